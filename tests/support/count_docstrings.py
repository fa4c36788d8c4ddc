"""Docstrings of functions that begin with no imperative verb.

    python tests/support/count_docstrings.py [FOLDER]

prints each of them, and their number, for a package of the working folder.
"""

import ast
import re
import sys
from pathlib import Path

# Verbs that docstrings of functions begin with. "Number", "Share", ... are also nouns.
WORDS = """
Accept Add Align Allow Append Apply Ask Assign Attach Average Balance Block Bound Break Bring
Build Cache Call Cast Centre Check Choose Clip Clone Close Collect Combine Compare Compile
Compute Concatenate Configure Connect Consume Continue Convert Copy Correct Correlate Count
Cover Create Cut Deal Decide Declare Decode Decorate Define Delete Derive Describe Detect
Determine Dispatch Display Distribute Divide Do Download Draw Drop Emit Encode End Ensure Enter
Erase Escape Estimate Evaluate Exchange Exclude Execute Exit Expand Explain Export Extend
Extract Factorize Fetch Fill Filter Find Fit Flush Forward Freeze Fuse Generate Give Group Grow
Guess Halve Handle Hash Hide Hold Import Impute Include Increase Index Infer Inform Initialise
Insert Interpolate Intersect Invert Issue Iterate Join Judge Keep Label Learn Let Limit List
Load Locate Lock Log Look Lower Make Map Mark Mask Match Maximise Measure Merge Minimise Mix
Move Multiply Name Negate Normalise Normalize Note Notify Number Open Optimize Order Pack Pad
Parse Perform Permute Pick Plot Pool Pop Predict Prepare Preserve Print Process Propose Prune
Push Put Quit Quote Raise Rank Read Recompute Reconfigure Record Redirect Reduce Refit Refuse
Register Reject Release Remove Render Repeat Replace Report Request Require Resample Rescale
Reserve Reset Reshape Resolve Restart Restore Retrieve Retry Return Reverse Rewrite Round Run
Sample Save Say Scale Score Search Select Send Set Share Shift Shorten Show Shrink Shuffle
Simulate Skip Slice Smooth Sort Split Spread Stack Standardise Standardize Start State Stop
Store Strip Submit Subtract Sum Summarise Swap Switch Take Tell Test Thin Tie Train Transform
Translate Transpose Treat Trim Truncate Try Turn Undo Unite Unpack Unwrap Update Use Validate
Verify Visit Walk Warn Weigh Weight Widen Work Wrap Write Yield Zip
"""
VERBS = frozenset(WORDS.split())


def first_sentence(text: str) -> str:
    """Return a docstring's first sentence on one line."""
    return re.split(r"(?<=[.:;])\s", " ".join(text.split()), maxsplit=1)[0]


def has_verb(text: str) -> bool:
    """Tell whether a docstring begins with a verb, and not with a noun such as "Number of"."""
    first, _, rest = first_sentence(text).partition(" ")
    first = first.rstrip(",.:;")
    return first in VERBS and (first in ("Say", "Warn") or not rest.startswith("of "))


def statements(tree: ast.AST):
    """Yield a tree and its statements at any depth: of expressions there are ten times more."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements(node)


def without_verb(tree: ast.Module) -> list[tuple[int, str]]:
    """List line and first sentence of the functions without a verb.

    Properties are named by nouns, and so are measures: what a module passes to `Measure`.
    """
    functions = [
        (node, text)
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (text := ast.get_docstring(node)) and not has_verb(text)
    ]
    values = [each.value for each in tree.body if isinstance(each, ast.Expr | ast.Assign)]
    measures = {
        each.id
        for value in values
        if isinstance(value, ast.Call) and getattr(value.func, "id", None) == "Measure"
        for each in value.args
        if isinstance(each, ast.Name)
    }
    return [
        (node.lineno, first_sentence(text))
        for node, text in functions
        if node.name not in measures
        if not any("property" in ast.unparse(each) for each in node.decorator_list)
    ]


if __name__ == "__main__":
    folder, count = Path(sys.argv[1] if len(sys.argv) > 1 else "skfilterrank"), 0
    for path in sorted(folder.rglob("*.py")):
        for line, sentence in without_verb(ast.parse(path.read_text(encoding="utf-8"))):
            print(f"{path}:{line} {sentence}")
            count += 1
    print(f"{count} docstrings of functions without a verb")
