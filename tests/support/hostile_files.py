"""Contents of files that no reader should trip over, and valid files to damage."""

import gzip

from hypothesis import strategies as st

CSV = b'qid,docno,label,x,title\n1,a,2,0.5,"some ""words"""\n1,b,,7,\n2,a,-1,nan,more words\n'
DOCUMENTS = CSV.replace(b"2,a", b"2,c")
JSONL = (
    b'{"qid": "1", "docno": "a", "label": 2, "x": 0.5, "title": "some words"}\n'
    b'{"qid": 2, "docno": "b", "label": null, "x": 7, "title": null}\n'
)
SCORES = b"run,qid,ap\nr,1,0.5\nr,2,\n"

DIGITS = b"1" * 5000
ROW = b'{"qid": "1", "docno": "a", "title": "t", "label": %s, "x": %s}\n'
LABELS = b'{"qid": "%c", "docno": "%c", "title": "some words here", "label": %s, "x": 1}\n'
CONTENTS = {
    "nothing": b"",
    "line end": b"\n",
    "only a byte order mark": b"\xef\xbb\xbf",
    "zero bytes": b"\0" * 100,
    "zero byte inside": b"qid,docno,label,title\n1,a\0,2,t\n",
    "deep nesting": b"[" * 200_000,
    "deep nesting of a value": ROW % (b"[" * 100_000 + b"]" * 100_000, b"1"),
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "many digits": ROW % (DIGITS, DIGITS),
    "many digits as id": b'{"qid": %s, "docno": 1, "label": 1, "title": "t"}\n' % DIGITS,
    "many digits in csv": b"qid,docno,label,x,title\n%s,%s,%s,%s,t\n" % ((DIGITS,) * 4),
    "many digits in columns": b"%s 0 a %s\n" % (DIGITS, DIGITS),
    "many digits in letor": b"1 qid:%s 1:%s\n" % (DIGITS, DIGITS),
    "many digits as index": b"1 qid:1 %s:1\n" % DIGITS,
    "1e400": ROW % (b"1e400", b"-1e400"),
    "10**400": ROW % (b"1" + b"0" * 400, b"-1" + b"0" * 400),
    "10**20": ROW % (b"1" + b"0" * 20, b"-1" + b"0" * 20),
    "1e400 in csv": b"qid,docno,label,x,title\n1,a,1e400,-1e400,t\n",
    "1e400 in columns": b"1 0 a 1e400\n",
    "1e400 as score": b"1 Q0 a 1 1e400 x\n",
    "scores of many digits": SCORES.replace(b"0.5", DIGITS),
    "scores of 10**400": SCORES.replace(b"0.5", b"1" + b"0" * 400),
    "half of a character": rb'{"qid": "1", "docno": "\ud800", "title": "t", "label": "\udfff"}'
    b"\n",
    "half of a character as key": rb'{"qid": "1", "docno": "a", "\ud800": "t", "label": 1}',
    "half of a character as text": rb'{"qid": "1", "docno": "a", "title": "\ud800", "label": 1}'
    b"\n",
    "lists and objects": b'{"qid": "1", "docno": "a", "title": ["t"], "label": {"a": 1}}\n',
    "ids that are lists": b'{"qid": ["1"], "docno": {"a": 1}, "title": "t", "label": 1}\n',
    "words of JSON": b'{"qid": "1", "docno": "a", "title": NaN, "label": Infinity}\n',
    "no object": b'"qid"\n',
    "unclosed quote": b'qid,docno,label,title\n1,a,2,"t\n',
    "unclosed quote in the header": b'qid,docno,"label,title\n1,a,2,t\n',
    "blank quoted last row": b'qid,docno,label,title\n1,a,2,t\n""\n',
    "blank quoted last row, open": b'qid,docno,label,title\n1,a,2,t\n"\n',
    "blank quoted rows": b'qid\n""\n"1"\n""\n',
    "blank quoted columns": b'qid,docno\n"",""\n',
    "blank scores": b'run,qid,ap\n""\n"",""\n',
    "quoted header of scores": b'"run,qid,ap\n1,2,3\n',
    "a field for each row name": b"qid,docno,label\n1,a,2,t\n2,b,1,t\n",
    "columns of one name": b"qid,qid,docno,docno,label,label\n1,2,a,b,2,1\n",
    "columns without name": b",,,\n1,2,3,4\n",
    "Windows line ends": b"qid,docno,label,title\r\n1,a,2,t\r\n",
    "old line ends": b"qid,docno,label,title\r1,a,2,t\r",
    "old line ends in columns": b"1 0 a 2\r1 0 b 1\r",
    "latin-1": "qid,docno,label,title\n1,é,2,t\n".encode("latin-1"),
    "UTF-16": CSV.decode().encode("utf-16"),
    "UTF-16 of columns": "1 0 a 2\n".encode("utf-16"),
    "cut gzip": gzip.compress(CSV)[:-12],
    "cut gzip header": gzip.compress(CSV)[:5],
    "gzip magic only": b"\x1f\x8b",
    "gzip of gzip": gzip.compress(gzip.compress(CSV)),
    "gzip and rubbish": gzip.compress(CSV) + b"rubbish",
    "Parquet magic": b"PAR1" + b"\x15\x04\xff" * 50 + b"\x10\0\0\0PAR1",
    "Parquet magic only": b"PAR1PAR1",
    "zip magic": b"PK\x03\x04" + b"\0" * 50,
    "no features of two queries": b"1 qid:1\n-1 qid:1\n1 qid:2\n-1 qid:2\n",
    "the highest index of two queries": b"1 qid:1 2147483647:1\n-1 qid:2 2:1\n",
    "numbers whose squares are infinite": b"1 qid:1 1:1e308\n-1 qid:1 1:1\n1 qid:2 1:-1e308\n",
    "the same in csv": b"qid,docno,label,x\n1,a,1,1e308\n1,b,-1,1\n2,a,1,-1e308\n2,b,-1,0\n",
    "labels of 10**400": b"".join(LABELS % (q, d, b"1" + b"0" * 400) for q in b"12" for d in b"ab"),
    "labels that are lists": b"".join(LABELS % (q, d, b"[1]") for q in b"12" for d in b"ab"),
    "labels of all kinds": b"".join(
        LABELS % (49 + place // 2, 97 + place % 2, label)
        for place, label in enumerate([b"1", b'"a"', b"null", b"{}", b"true", b"1e400"])
    ),
    "no features": b"1 qid:1\n0 qid:1\n",
    "the highest index": b"1 qid:1 2147483647:1\n0 qid:1 2147483647:2\n",
    "above the highest index": b"1 qid:1 2147483648:1\n",
    "huge label": b"1e400 qid:1 1:1\n",
    "numbers of other scripts": "٣ 0 a ٣\n".encode(),
    "other blanks": "1\x1c0\x1da\x1e2\n1\x850\xa0a\u20282\n".encode(),
}


@st.composite
def mutated(draw, content):
    """A valid file with some bytes changed, left out, repeated or put in."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(content)))
        end = begin + draw(st.integers(0, 8))
        kind = draw(st.sampled_from(["flip", "delete", "repeat", "insert", "cut"]))
        if kind == "flip" and begin < len(content):
            content[begin] ^= 1 << draw(st.integers(0, 7))
        elif kind == "delete":
            del content[begin:end]
        elif kind == "repeat":
            content[begin:begin] = content[begin:end] * draw(st.integers(1, 3))
        elif kind == "insert":
            content[begin:begin] = draw(st.sampled_from(PIECES) | st.binary(max_size=4))
        elif kind == "cut":
            del content[begin:]
    return bytes(content)


PIECES = [b'"', b"\n", b"\r", b"\0", b",", b"\t", b" ", b"{", b"]", b"\\ud800", b"e999", b"-", b":"]
PIECES += [b"\xff", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"9" * 20, b"nan", b"inf", b"null", b'""']
