"""Trees of scikit-learn from a file, which `predict` follows without looking where they lead."""

import numpy as np

from skfilterrank._sklearn_compat import trees_and_forests
from skfilterrank.exceptions import FileFormatError

_LEAF = -1


def check_trees(objects, n_trees: int, name: str) -> None:
    """Refuse a file whose trees would lead `predict` outside the tree or outside a row of X.

    Parameters
    ----------
    objects : iterable of object
        All objects of the model that have attributes.
    n_trees : int
        Trees that the file holds.
    name : str
        Name of the file.

    Raises
    ------
    FileFormatError
        For a tree that is none, that counts features which its owner does not ask for, or that
        stands elsewhere than in an estimator.
    """
    tree_type, forest_types = trees_and_forests()
    seen = set()
    for owner in objects:
        tree = vars(owner).get("tree_")
        if isinstance(tree, tree_type):
            seen.add(id(tree))
            if reason := _fault(tree, vars(owner).get("n_features_in_")):
                raise _bad_tree(owner, reason, name)
        elif isinstance(owner, forest_types):
            # These look at X once, and hand it to their trees unseen.
            members = list(np.ravel(vars(owner).get("estimators_", ())))
            width = vars(owner).get("n_features_in_")
            columns = vars(owner).get("estimators_features_", [()] * len(members))
            if len(columns) != len(members):
                raise _bad_tree(owner, "there are not as many sets of features as trees", name)
            for member, features in zip(members, columns, strict=True):
                n_features = getattr(getattr(member, "tree_", None), "n_features", None)
                if n_features != (len(features) or width):
                    reason = f"it has {n_features} features where the model has {width}"
                    raise _bad_tree(owner, reason, name)
    if len(seen) != n_trees:
        raise FileFormatError(
            f"of {n_trees} trees, {n_trees - len(seen)} stand elsewhere than in an estimator.", name
        )


def _fault(tree, width):
    """What is wrong with a tree whose owner sees `width` features; None if nothing is."""
    if tree.n_features != width:
        return f"it has {tree.n_features} features where its owner has {width}"
    n_nodes = tree.node_count
    if not 0 < n_nodes <= tree.capacity:
        return f"it counts {n_nodes} nodes and holds {tree.capacity}"
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left != _LEAF)
    if np.any((tree.feature[inner] < 0) | (tree.feature[inner] >= width)):
        return "it splits by a feature that is none"
    children = np.concatenate([left[inner], right[inner]])
    # Parents stand before their children, so that no path comes back.
    if not np.array_equal(np.sort(children), np.arange(1, n_nodes)) or np.any(
        children <= np.tile(inner, 2)
    ):
        return "its nodes form no tree"
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[left[level] != _LEAF]
        level = np.concatenate([left[level], right[level]])
    if depth > tree.max_depth:
        return f"it is {depth} levels deep and says {tree.max_depth}"
    return None


def _bad_tree(owner, reason, name):
    """The error of a file with a tree that cannot be right."""
    return FileFormatError(
        f"a tree of {type(owner).__name__} is damaged: {reason}. Fit and save the model again.",
        name,
    )
