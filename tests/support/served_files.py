"""A small file of forum answers, and a server of this machine that has it."""

import hashlib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

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
