"""Checks of a model file before it is trusted: its size unpacked, and its trees."""

import io
import json
import zipfile

import numpy as np

from skfilterrank._lists.sklearn_compat import trees_and_forests
from skfilterrank.exceptions import FileFormatError

_READ_BYTES = 1 << 20
# Other ways of compression give all of an entry at once, and save_model does not use them.
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LEAF = -1


def unpacked(data: bytes, most: int, name: str) -> bytes:
    """Copy a model file to an archive of which nothing is compressed; beyond `most` bytes raise."""
    copied = _copied(data, most, [0], name)
    with zipfile.ZipFile(io.BytesIO(copied)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        schema = json.loads(archive.read("schema.json"))
    # A file may read an entry again and again, as save_model's do not.
    _check_size(sum(sizes.get(entry, 0) for entry in _entries_read(schema)), most, name)
    return copied


def _copied(data, most, spent, name):
    """Copy an archive, and the archives in it, which hold sparse matrices; count the bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as copied:
        # Before anything is unpacked; and the sizes may be lies.
        _check_size(spent[0] + sum(info.file_size for info in source.infolist()), most, name)
        for entry in dict.fromkeys(source.namelist()):
            if source.getinfo(entry).compress_type not in _WAYS:
                raise zipfile.BadZipFile("an entry is compressed in a way that is not used")
            content = bytearray()
            with source.open(entry) as opened:
                while part := opened.read(_READ_BYTES):
                    spent[0] += len(part)
                    _check_size(spent[0], most, name)
                    content += part
            is_archive = content.startswith(b"PK")
            copied.writestr(entry, _copied(content, most, spent, name) if is_archive else content)
    return target.getvalue()


def _check_size(n_bytes, most, name):
    if n_bytes > most:
        raise FileFormatError(
            f"the model unpacks to more than {most:,} bytes, so that it could fill the memory; if "
            "you know where the file comes from, pass a greater max_bytes= to load_model.",
            name,
        )


def _entries_read(schema):
    """Yield the name of the entry behind each node of a skops schema that reads one."""
    stack, known = [schema], set()
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            number = item.get("__id__")
            if isinstance(item.get("file"), str) and (number is None or number not in known):
                yield item["file"]
            if isinstance(number, int):
                known.add(number)
            stack.extend(item.values())


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
    """Describe what is wrong with a tree whose owner sees `width` features; None if nothing is."""
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
