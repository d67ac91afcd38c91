"""Run the worked examples and rewrite what their pages show of them: `python docs/make_examples.py [name ...]`.

A page docs/examples/NAME.md is written by hand, but for blocks between marks: `<!-- output -->` takes what
examples/NAME.py prints, and `<!-- code: first, second -->` the named functions of the script. NAME.png is its figure.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from fujiscore.work.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "examples"
NAMES = tuple(sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index"))
BLOCK = re.compile(r"<!-- (output|code: [\w, ]+) -->\n.*?<!-- end -->", flags=re.DOTALL)


def run(name, picture):
    """Return what an example prints; it draws its figure into a file. Warnings are errors."""
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py"), "--plot", str(picture)]
    # Of several processes at once, each with threads of its own for small matrices, all would wait for each other.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=environment
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"{name}.py ended with {done.returncode}: {done.stderr}")
    return done.stdout


def source(name, functions):
    """Return the source of some functions of an example."""
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    return "\n\n\n".join(ast.get_source_segment(text, nodes[function]) for function in functions)


def filled(name, page, output):
    """Return a page with its blocks written anew."""

    def block(found):
        kind, _, functions = found[1].partition(": ")
        content = f"```text\n{output.strip()}\n```"
        if kind == "code":
            content = f"```py\n{source(name, functions.split(', '))}\n```"
        return f"<!-- {found[1]} -->\n{content}\n<!-- end -->"

    return BLOCK.sub(block, page)


def main():
    """Rewrite the pages and figures of the named examples, or of all."""
    for name in sys.argv[1:] or NAMES:
        page = PAGES / f"{name}.md"
        with TemporaryDirectory() as folder:
            picture = Path(folder) / "figure.png"
            content = filled(name, page.read_text(encoding="utf-8"), run(name, picture))
            image = Image.open(picture).convert("RGB").quantize(256)  # a third of the size, and looks the same
            write_atomically(PAGES / f"{name}.png", lambda file, image=image: image.save(file, "PNG", optimize=True))
        write_atomically(page, lambda file, content=content: file.write(content.encode()))
        print(name, (PAGES / f"{name}.png").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
