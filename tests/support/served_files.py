"""Small files of public sets, and a server of this machine that has them."""

import hashlib
import io
import tarfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

QRELS = b"1 0 a 2\n1 0 b -2\n2 0 a 0\n"
RUN = "".join(f"{topic} Q0 d{topic} 1 0.5 mine\n" for topic in range(1, 31)).encode()
XML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [<!ELEMENT xml (OrgQuestion*)> <!ATTLIST xml version CDATA #REQUIRED>]>
<xml version="1.0"><OrgQuestion ORGQ_ID="Q1">
<Thread THREAD_SEQUENCE="Q1_R1" SubtaskA_Skip_Because_Same_As_RelQuestion_ID="Q0_R9">
<RelQuestion RELQ_ID="Q1_R1"/><RelComment RELC_ID="Q1_R1_C1" RELC_RELEVANCE2RELQ="Good"/>
</Thread>
<Thread THREAD_SEQUENCE="Q1_R2">
<RelQuestion RELQ_ID="Q1_R2" RELQ_CATEGORY="Advice" RELQ_DATE="2013-05-02 19:43:00"
 RELQ_USERID="U1" RELQ_USERNAME="somebody"><RelQSubject>Banks</RelQSubject>
<RelQBody>Which bank &amp; why?</RelQBody></RelQuestion>
<RelComment RELC_ID="Q1_R2_C1" RELC_DATE="2013-05-03 07:23:20" RELC_USERID="U2"
 RELC_USERNAME="another" RELC_RELEVANCE2ORGQ="Bad" RELC_RELEVANCE2RELQ="Good">
<RelCText>The one — near you</RelCText></RelComment>
<RelComment RELC_ID="Q1_R2_C2" RELC_DATE="2013-05-04 07:04:50" RELC_USERID="U1"
 RELC_USERNAME="somebody" RELC_RELEVANCE2ORGQ="Good" RELC_RELEVANCE2RELQ="Bad">
<RelCText></RelCText></RelComment>
</Thread></OrgQuestion></xml>
""".encode()
LABELS = hashlib.sha256(b"Q1_R2_C1 Good\nQ1_R2_C2 Bad").hexdigest()
CRANFIELD = {
    "cran.all.1400": b".I 1\n.T\na wing\nin air .\n.A \nb,m.\n.B\nj. 25\n.W\na wing\n"
    b"in air . it flies\n"
    b".I 2\n.T\n.A\n.B\n.W\n",
    "cran.qry": b".I 001\n.W\nwhat flies\nand why .\n.I 004\n.W\nheat .\n",
    "cranqrel": b"1 1 1 \n1 2 -1\n2 1 4\n",
}


class Server:
    """A folder on this machine's own address, and how often files were asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_):
                asked.append(self.path)

        self.folder = folder
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.url = f"http://127.0.0.1:{self.http.server_port}/"

    def put(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.url + name


def packed(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
