"""Pointwise tensor expressions as sums of products, so that two spellings of one function compare equal.

``0.5 * x * (1 + torch.erf(x / math.sqrt(2)))`` and ``x.mul(torch.erf(x * 0.7071067811865476) + 1) / 2`` become the same
sum. What is not understood, or may have effects, has no formula.
"""

from __future__ import annotations

import math
from typing import NamedTuple

MAX_TERMS = 24
VARIABLE = "var:"


class Atom(NamedTuple):
    """A variable (``var:`` and its key) or a function of formulas."""

    name: str
    args: tuple[Formula, ...] = ()


class Term(NamedTuple):
    """A coefficient times atoms; a power is an atom several times."""

    factor: float
    atoms: tuple[Atom, ...] = ()


Formula = tuple[Term, ...]


def number(value: float) -> Formula:
    """A constant."""
    return (Term(float(value)),) if value else ()


def variable(key: str) -> Formula:
    """A variable."""
    return (Term(1.0, (Atom(VARIABLE + key),)),)


def function(name: str, *args: Formula) -> Formula:
    """A function of formulas, in its normal form."""
    known = _known(name, args)
    return known if known is not None else (Term(1.0, (Atom(name, args),)),)


def value(formula: Formula) -> float | None:
    """The number that a formula is; None where it is none."""
    if not formula:
        return 0.0
    if len(formula) == 1 and not formula[0].atoms:
        return formula[0].factor
    return None


def add(left: Formula, right: Formula) -> Formula:
    """Their sum, like terms taken together."""
    terms: dict[tuple[Atom, ...], float] = {}
    for term in (*left, *right):
        atoms = tuple(sorted(term.atoms, key=repr))
        terms[atoms] = terms.get(atoms, 0.0) + term.factor
    return tuple(Term(factor, atoms) for atoms, factor in terms.items() if factor)


def scale(formula: Formula, by: float) -> Formula:
    """A multiple."""
    return tuple(Term(term.factor * by, term.atoms) for term in formula) if by else ()


def multiply(left: Formula, right: Formula) -> Formula:
    """Their product, multiplied out.

    Raises:
        OverflowError: it has more terms than any function of interest.
    """
    if len(left) * len(right) > MAX_TERMS:
        raise OverflowError
    product: Formula = ()
    for a in left:
        for b in right:
            product = add(product, (Term(a.factor * b.factor, a.atoms + b.atoms),))
    return product


def divide(left: Formula, right: Formula) -> Formula:
    """Their quotient; what cannot be divided out stays an inverse."""
    by = value(right)
    if by is not None:
        return scale(left, 1 / by) if by else multiply(left, function("inverse", right))
    return multiply(left, function("inverse", right))


def power(base: Formula, exponent: Formula) -> Formula | None:
    """A whole power of a formula, or any power of a number."""
    known, by = value(base), value(exponent)
    if by is None:
        return None
    if known is not None:
        return number(known**by) if known > 0 else None
    if by not in (1, 2, 3):
        return None
    product = base
    for _ in range(int(by) - 1):
        product = multiply(product, base)
    return product


def variables(formula: Formula) -> frozenset[str]:
    """The keys of the variables in a formula."""
    found: set[str] = set()
    for term in formula:
        for atom in term.atoms:
            if atom.name.startswith(VARIABLE):
                found.add(atom.name[len(VARIABLE) :])
            found.update(*(variables(arg) for arg in atom.args))
    return frozenset(found)


def deviation(one: Formula, other: Formula) -> float | None:
    """The greatest relative difference of their constants; None where they are different functions."""
    if len(one) != len(other):
        return None
    worst, rest = 0.0, list(other)
    for term in one:
        fits = [(found, index) for index, b in enumerate(rest) if (found := _between(term, b)) is not None]
        if not fits:
            return None
        found, index = min(fits)
        worst = max(worst, found)
        del rest[index]
    return worst


def _between(one: Term, other: Term) -> float | None:
    if len(one.atoms) != len(other.atoms):
        return None
    worst = abs(one.factor - other.factor) / max(abs(one.factor), abs(other.factor))
    rest = list(other.atoms)
    for atom in one.atoms:
        fits = [(found, index) for index, b in enumerate(rest) if (found := _apart(atom, b)) is not None]
        if not fits:
            return None
        found, index = min(fits)
        worst = max(worst, found)
        del rest[index]
    return worst


def _apart(one: Atom, other: Atom) -> float | None:
    if one.name != other.name or len(one.args) != len(other.args):
        return None
    apart = [deviation(a, b) for a, b in zip(one.args, other.args)]
    return None if None in apart else max((a for a in apart if a is not None), default=0.0)


def _known(name: str, args: tuple[Formula, ...]) -> Formula | None:
    """Functions that are another one, and constants."""
    first = args[0]
    if name == "sqrt" and (constant := value(first)) is not None and constant >= 0:
        return number(math.sqrt(constant))
    if name == "inverse":
        return _inverse(first)
    if name == "log" and (inner := _one_plus_exp(first)) is not None:
        return function("softplus", inner)
    if name == "log1p" and (inner := _exp_of(first)) is not None:
        return function("softplus", inner)
    if name == "hardsigmoid":
        return scale(function("clamp", add(first, number(3)), number(0), number(6)), 1 / 6)
    return None


def _inverse(formula: Formula) -> Formula | None:
    """``1 / (1 + exp(-x))`` is the sigmoid of x."""
    inner = _one_plus_exp(formula)
    return None if inner is None else function("sigmoid", scale(inner, -1))


def _one_plus_exp(formula: Formula) -> Formula | None:
    rest = add(formula, number(-1))
    return _exp_of(rest)


def _exp_of(formula: Formula) -> Formula | None:
    if len(formula) != 1 or formula[0].factor != 1 or len(formula[0].atoms) != 1:
        return None
    atom = formula[0].atoms[0]
    return atom.args[0] if atom.name == "exp" else None
