// Browsers refuse workers to pages that are opened from disk. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.addEventListener("load", () => this.start(String(url)), { once: true });
      document.documentElement.append(this.frame);
    }

    start(url) {
      const inside = this.frame.contentWindow;
      const script = inside.document.createElement("script");
      inside.postMessage = (data) => setTimeout(() => this.tell(new MessageEvent("message", { data })));
      inside.importScripts = (...urls) =>
        urls.reduce((loaded, next) => loaded.then(() => this.load(next)), Promise.resolve());
      script.src = url;
      script.addEventListener("load", () => {
        for (const data of this.waiting) this.deliver(data);
        this.waiting = null;
      });
      inside.document.head.append(script);
    }

    tell(event) {
      if (this.onmessage) this.onmessage(event);
      this.dispatchEvent(event);
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = failed;
        this.frame.contentDocument.head.append(script);
      });
    }

    deliver(data) {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else setTimeout(() => this.deliver(data));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
