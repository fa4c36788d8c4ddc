"""Small changes of a file, by Cosmic Ray's operators and three more."""

import ast
import copy
import hashlib
from pathlib import Path
from types import CodeType

import parso
from cosmic_ray.ast import ast_nodes, get_ast, is_number
from cosmic_ray.operators.number_replacer import NumberReplacer
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).parents[2]
OPERATORS = [
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("Pow_Mul", "FloorDiv_Div", "Mod_FloorDiv")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("BitAnd_BitOr", "BitOr_BitAnd")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Lt_Gt", "LtE_GtE", "Gt_Lt", "GtE_LtE")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot")),
    *(f"ReplaceUnaryOperator_{pair}" for pair in ("Delete_USub", "Delete_Invert", "Delete_Not")),
    *("ReplaceComparisonOperator_IsNot_Is", "AddNot", "ReplaceTrueWithFalse"),
    *("ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
]
SWAPS = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil"}
SWAPS |= {after: before for before, after in SWAPS.items()}
SWAPS |= {'"left"': '"right"', '"right"': '"left"'}


class WholeNumber(NumberReplacer):
    """Whole numbers plus and minus 1, as Cosmic Ray changes all numbers."""

    def mutation_positions(self, node):
        return super().mutation_positions(node) if is_number(node) and _is_whole(node) else ()


class Fraction(Operator):
    """Other numbers times 1.1; numbers below a thousandth become 0 and a thousandfold."""

    def mutation_positions(self, node):
        if is_number(node) and not _is_whole(node):
            yield from [(node.start_pos, node.end_pos)] * len(self._others(node))

    def mutate(self, node, index):
        return parso.python.tree.Number(f" {self._others(node)[index]}", node.start_pos)

    @staticmethod
    def _others(node):
        value = abs(ast.literal_eval(node.value))
        return [0.0, 1000 * value] if value < 1e-3 else [round(1.1 * value, 12)]

    @classmethod
    def examples(cls):
        return ()


class Swap(Operator):
    """The opposite function: min for max, any for all."""

    def mutation_positions(self, node):
        if node.type in ("name", "string") and node.value in SWAPS:
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        return parso.python.tree.Name(node.prefix + SWAPS[node.value], node.start_pos)

    @classmethod
    def examples(cls):
        return ()


def _is_whole(node):
    value = abs(ast.literal_eval(node.value))  # complex ones, too
    return value == int(value) and value < 1e6


class Mutant:
    """One change of a file: the source before and after it, and the changed line."""

    def __init__(self, path, old, new, line, where):
        self.path, self.old, self.new = path, old, new
        self.line, self.where = line, where
        old_lines, new_lines = old.splitlines(), new.splitlines()
        self.before, self.after = old_lines[line - 1].strip(), new_lines[line - 1].strip()
        self.key = f"{path}: {where}: {self.before}  ->  {self.after}"

    def codes(self):
        """Compile the file before and after the change; return pairs of their code objects."""
        path = str(ROOT / self.path)
        pairs = []
        _walk(compile(self.old, path, "exec"), compile(self.new, path, "exec"), pairs)
        return pairs

    def runs_at_import(self):
        """Tell whether the changed code runs at import, as constants and defaults do."""
        changed = [old for old, new in self.codes() if _own(old) != _own(new)]
        return any(not old.co_flags & 0x2 for old in changed)  # CO_NEWLOCALS: a function

    def is_a_change(self):
        """Tell whether anything but the marks of an argument list is changed."""
        pairs = self.codes()
        same = all(old.co_kwonlyargcount == new.co_kwonlyargcount for old, new in pairs)
        return same and any(_own(old) != _own(new) for old, new in pairs)


def _walk(old, new, pairs):
    pairs.append((old, new))
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new)]
    for a, b in zip(*inner):
        _walk(a, b, pairs)


def _own(code):
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames


class Places:
    """Places of a file that the operators change."""

    def __init__(self, path):
        self.path, self.source = path, (ROOT / path).read_text(encoding="utf-8")
        self.tree = ast.parse(self.source)
        skipped = _annotations(self.tree)
        operators = {name: get_operator(f"core/{name}")() for name in OPERATORS}
        operators |= {"WholeNumber": WholeNumber(), "Fraction": Fraction(), "Swap": Swap()}
        self.places = [
            (name, operator, node, index, start)
            for node in ast_nodes(get_ast(self.source))
            for name, operator in operators.items()
            for index, (start, _) in enumerate(operator.mutation_positions(node))
            if not any(begin <= start < end for begin, end in skipped)
        ]

    def in_drawn_order(self, seed):
        """Yield the places with hashes to sort them by, which do not depend on other lines."""
        lines = self.source.splitlines()
        for name, operator, node, index, (line, column) in self.places:
            text = lines[line - 1]
            indent = len(text) - len(text.lstrip())
            words = f"{seed} {self.path} {text.strip()} {column - indent} {name} {index}"
            number = hashlib.sha256(words.encode()).hexdigest()
            yield number, line, self, (node, operator, index)

    def mutant(self, line, change):
        """Make the changed file; None where it does not compile, or nothing is changed."""
        changed = _changed(self.source, *change)
        mutant = Mutant(self.path, self.source, changed, line, _where(self.tree, line))
        try:
            return mutant if changed != self.source and mutant.is_a_change() else None
        except SyntaxError:
            return None


def drawn_mutants(paths, n_drawn, seed=0):
    """Draw changes of the files, or take all; return them and how many there are."""
    files = [Places(path) for path in paths]
    places = sorted(
        (place for each in files for place in each.in_drawn_order(seed)), key=lambda p: p[:2]
    )
    drawn = {}
    for _, line, file, change in places:
        if len(drawn) == n_drawn:
            break
        mutant = file.mutant(line, change)
        if mutant is not None:
            drawn.setdefault((mutant.path, mutant.new), mutant)
    return list(drawn.values()), len(places)


def _changed(source, node, operator, index):
    """Make the source with one node changed; the tree stays as it is."""
    parent, node.parent = node.parent, None
    copied = copy.deepcopy(node)
    node.parent = copied.parent = parent
    prefix = copied.get_first_leaf().prefix
    text = operator.mutate(copied, index).get_code().removeprefix(prefix).lstrip(" ")
    lines = source.splitlines(keepends=True)
    begin, end = (sum(map(len, lines[: n - 1])) + at for n, at in (node.start_pos, node.end_pos))
    return source[:begin] + text + source[end:]


def _annotations(tree):
    """Find the places of annotations, which nothing runs."""
    nodes = []
    for node in ast.walk(tree):
        nodes += [getattr(node, name, None) for name in ("annotation", "returns")]
    return [
        ((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset))
        for n in nodes
        if isinstance(n, ast.expr)
    ]


def _where(tree, line):
    """Find the innermost function or class around a line."""
    around = [
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.lineno <= line <= node.end_lineno
    ]
    return max(around)[1] if around else "module"


def statement_lines(tree, line):
    """Find the lines of the smallest statement around a line."""
    around = [
        (node.end_lineno - node.lineno, node.lineno, node.end_lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
    ]
    _, first, last = min(around)
    return range(first, last + 1)
