"""Unpacking a zip archive that must not fill the memory, whatever it says of itself."""

import io
import json
import zipfile

from skfilterrank.exceptions import FileFormatError

_READ_BYTES = 1 << 20
# Other ways of compression give all of an entry at once, and save_model does not use them.
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Unpacker:
    """Copies a model file to an archive of which nothing is compressed, up to so many bytes."""

    def __init__(self, name, max_bytes):
        self._name, self._max_bytes, self._left = name, max_bytes, max_bytes

    def unpack(self, data) -> bytes:
        """The archive with its entries as they are, and those of archives in it, uncompressed."""
        copied = self._copy(data)
        with zipfile.ZipFile(io.BytesIO(copied)) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            schema = json.loads(archive.read("schema.json"))
        # A file may read an entry again and again, as save_model's do not.
        self._left = self._max_bytes
        for entry in _entries_read(schema):
            self._spend(sizes.get(entry, 0))
        return copied

    def _copy(self, data):
        """Copy an archive, and the archives in it that hold sparse matrices."""
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as copied:
            entries = source.infolist()
            # Before anything is unpacked; and the sizes may be lies.
            if sum(entry.file_size for entry in entries) > self._left:
                self._refuse()
            for name in dict.fromkeys(source.namelist()):
                if source.getinfo(name).compress_type not in _WAYS:
                    raise zipfile.BadZipFile("an entry is compressed in a way that is not used")
                parts = []
                with source.open(name) as entry:
                    while part := entry.read(_READ_BYTES):
                        self._spend(len(part))
                        parts.append(part)
                content = b"".join(parts)
                copied.writestr(name, self._copy(content) if content[:2] == b"PK" else content)
        return target.getvalue()

    def _spend(self, n_bytes):
        self._left -= n_bytes
        if self._left < 0:
            self._refuse()

    def _refuse(self):
        raise FileFormatError(
            f"the model unpacks to more than {self._max_bytes:,} bytes, so that it could fill the "
            "memory; if you know where the file comes from, pass a greater max_bytes= to "
            "load_model.",
            self._name,
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
