"""Check the docstrings of all public names with numpydoc: `make lint` runs it.

Every parameter of a public function or method is described, in the order of the signature; functions say what they
return. numpydoc calls its checks by code: https://numpydoc.readthedocs.io/en/latest/validation.html.
"""

import inspect
import sys

from make_reference import INTERNAL
from numpydoc.validate import validate

import fujiscore as fj
from fujiscore import rankers

# No docstring; parameters: missing, unknown, out of order, without a type or a description, how that is written.
EVERYWHERE = {"GL08", *(f"PR{number:02}" for number in range(1, 11)), "SS01", "SS02", "SS03", "SS04", "SS06"}
# What functions return; one line that says it is enough for a method.
FUNCTIONS = {"RT01", "RT03", "RT04", "RT05", "YD01"}


def public_objects():
    """Yield the path of every public function, class, method and property, and the checks that it has to pass."""
    for module in (fj, fj.results, fj.stats, rankers):
        for name in module.__all__:
            thing, path = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isfunction(thing):
                yield path, EVERYWHERE | FUNCTIONS
            elif inspect.isclass(thing):
                # The fields of a result are described as attributes, and nobody but the package creates one.
                yield path, {check for check in EVERYWHERE if not check.startswith("PR")}
                yield from ((f"{path}.{member}", EVERYWHERE) for member in dir(thing) if documents(thing, member))


def documents(kind, name):
    """Return whether a class's attribute is a public method or property of the package, and no field."""
    of = next(base for base in kind.__mro__ if name in vars(base)) if not name.startswith("_") else object
    ours = of.__module__.startswith("fujiscore") and name not in INTERNAL
    return ours and hasattr(inspect.getattr_static(kind, name), "__get__")


def faults():
    """Return one line per fault."""
    return [
        f"{path}: {code} {message}"
        for path, checks in public_objects()
        for code, message in validate(path)["errors"]
        if code in checks
    ]


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or 0)
