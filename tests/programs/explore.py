#!/usr/bin/env python3
"""penta explore: who gets the page from its server and who does not, and what is in the page that it writes.

The page of `make web` is used where it was built, else a stand-in with a place for the file: what is tested here is the
tool. tests/programs/browser tests the page."""
import base64
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sys

import waiting
from support import PENTA, ROOT, Server, check, main, read_text, run_program, write

BUILT = os.path.join(ROOT, "build/web/penta.html")
STAND_IN = "<!DOCTYPE html><title>page</title><body><!-- penta:file --></body>\n"
HOSTILE = b"</script><script>alert(1)</script><!--" + bytes(range(256))


def install(page=STAND_IN):
    """The tool in a tree like an installed one; gives its path."""
    os.makedirs("bin", exist_ok=True)
    shutil.copy(PENTA, "bin/penta")
    if page is not None:
        os.makedirs("share/penta/web", exist_ok=True)
        write("share/penta/web/penta.html", page)
    return os.path.abspath("bin/penta")


def explore(tool, *args):
    return run_program(tool, "explore", *args)


class Page(Server):
    def __init__(self, tool, *args):
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        super().__init__(tool, "explore", *args, env=environment)

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, answer.headers

    def raw(self, request):
        with self.connect() as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            got = b""
            while piece := client.recv(65536):
                got += piece
        return got

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.ended()


def prepare():
    write("file.bin", HOSTILE)


def block(page):
    found = re.search(r'<script type="application/json" id="opened">(.*?)</script>', page, re.S)
    check(found, "the page has no block with the file")
    return json.loads(found[1])


def test_page_is_served_to_who_knows_the_token():
    server = Page(install(), "file.bin", "--no-open")
    try:
        status, body, headers = server.get(f"/{server.token}/")
        check(status == 200, status)
        opened = block(body.decode())
        check(base64.b64decode(opened["bytes"]) == HOSTILE and opened["name"] == "file.bin", opened)
        check(headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer", headers)
        check(server.get(f"/{server.token}/")[0] == 200, "a second time")
        check(server.get(f"/{server.token}/", Host=f"localhost:{server.port}")[0] == 200, "localhost")
    finally:
        code = server.end()
    check(code == -signal.SIGINT, code)


def test_everybody_else_gets_nothing():
    server = Page(install(), "file.bin", "--no-open")
    token = server.token
    try:
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for path in ("/", "/index.html", f"/{wrong}/", f"/{token}", f"/{token}/penta.html", f"/{token}/../",
                     f"/{token}/../../etc/passwd", f"/{token}/%2e%2e/", f"//{token}/", f"/{token}//", "/favicon.ico",
                     f"/{token}/?x", f"/{token}{token}/"):
            status, body, _ = server.get(path)
            check(status == 404 and not body, (path, status))
        for method in ("HEAD", "POST", "PUT", "OPTIONS", "DELETE"):
            check(server.get(f"/{token}/", method)[0] == 405, method)
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.2:{server.port}", ""):
            check(server.get(f"/{token}/", Host=host)[0] == 403, host)
        own = f"Host: 127.0.0.1:{server.port}\r\n"
        for request in (f"GET /{token}/ HTTP/1.1\r\n\r\n", f"GET /{token}/\r\n{own}\r\n", "\r\n\r\n",
                        f"GET /{token}/ HTTP/1.1\r\n{own}{own}\r\n", f"GET /{token}/ HTTP/1.1\r\n{own}nonsense\r\n\r\n",
                        f"GET /{token}/ HTTP/2.0\r\n{own}\r\n"):
            got = server.raw(request.encode())
            check(got.startswith(b"HTTP/1.1 400 ") and b"opened" not in got, (request, got[:60]))
        check(server.raw(b"x" * 16384).startswith(b"HTTP/1.1 431 "), "a request without an end")
        check(server.raw(b"GET /") == b"", "a request that breaks off")
        check(server.raw(b"\0\xff" * 40 + b"\r\n\r\n").startswith(b"HTTP/1.1 400 "), "no text")
        check(server.get(f"/{token}/")[0] == 200, "the server goes on")
    finally:
        server.end()


def test_idle_connections_do_not_block_others():
    server = Page(install(), "file.bin", "--no-open")
    idle = [server.connect() for _ in range(40)]
    try:
        check(server.get(f"/{server.token}/")[0] == 200, "it waits for idle ones")
    finally:
        for client in idle:
            client.close()
        server.end()


def test_once_ends_after_the_page():
    server = Page(install(), "file.bin", "--no-open", "--once")
    check(server.get("/")[0] == 404, "not this one")
    check(server.get(f"/{server.token}/")[0] == 200, "the page")
    check(server.process.wait(timeout=20) == 0, server.process.returncode)
    server.process.communicate(timeout=waiting.SECONDS)


def test_servers_differ_in_port_and_token():
    tool = install()
    one, two = Page(tool, "file.bin", "--no-open"), Page(tool, "file.bin", "--no-open")
    try:
        check(one.token != two.token and one.port != two.port, (one.token, two.token))
        check(one.get(f"/{two.token}/")[0] == 404, "the token of another server")
    finally:
        one.end()
        two.end()


def test_written_page_holds_the_file():
    tool = install()
    done = explore(tool, "file.bin", "-f", "kblob", "--map", "0x10000:64", "--map", "0x20000:64", "-o", "page.html")
    check(done.returncode == 0 and not done.stdout, done)
    text = read_text("page.html")
    opened = block(text)
    check(base64.b64decode(opened["bytes"]) == HOSTILE, "other bytes")
    check(opened["format"] == "kblob" and opened["options"] == [{"key": "map", "value": "0x10000:64"},
                                                                {"key": "map", "value": "0x20000:64"}], opened)
    check(text.count("<script") == 1 and "<!--" not in text, "something of the file is markup")


def test_names_stay_text_and_folders_stay_out():
    tool = install()
    name = '"><img src=x onerror=alert(1)>.bin'
    os.mkdir("secret-folder")
    shutil.copy("file.bin", f"secret-folder/{name}")
    check(explore(tool, f"secret-folder/{name}", "-o", "page.html").returncode == 0, "a name with markup")
    text = read_text("page.html")
    check("<img" not in text and "secret-folder" not in text, text)
    check(block(text)["name"] == name, block(text)["name"])


def test_files_of_options_are_in_the_page():
    tool = install()
    os.makedirs("other-folder", exist_ok=True)
    for path, contents in (("key.txt", b"one"), ("other-folder/key.txt", b"two</script>")):
        write(path, contents)
    done = explore(tool, "file.bin", "-f", "cvbc", "--program", "main", "--key-file", "key.txt", "--trusted-key", "other-folder/key.txt",
                   "--budget", "5", "-o", "page.html")
    check(done.returncode == 0 and b"contents of key.txt" in done.stderr and b"other-folder/key.txt" in done.stderr, done)
    text = read_text("page.html")
    check("other-folder" not in text and text.count("<script") == 1, text)
    opened = block(text)
    options = {one["key"]: one["value"] for one in opened["options"]}
    files = {one["name"]: base64.b64decode(one["bytes"]) for one in opened["files"]}
    check(options["program"] == "main" and options["budget"] == "5", options)
    check(files[options["key-file"]] == b"one" and files[options["trusted-key"]] == b"two</script>", (options, files))
    done = explore(tool, "file.bin", "-f", "cvbc", "--key-file", "absent.txt", "-o", "page2.html")
    check(done.returncode == 4 and not os.path.exists("page2.html"), done)
    done = explore(tool, "file.bin", "-f", "cvbc", "--map", "0:1", "-o", "page2.html")
    check(done.returncode == 2 and b"no option '--map'" in done.stderr, done)
    done = explore(tool, "file.bin", "-f", "tvmr", "--save-weights", "none.tvmw", "-o", "page3.html")
    check(done.returncode == 0 and not os.path.exists("none.tvmw"), done)
    check(block(read_text("page3.html"))["files"] == [], "a file that is written is none to read")


def test_second_file_is_in_the_page():
    tool = install()
    write("second.bin", b"second")
    check(explore(tool, "file.bin", "second.bin", "-o", "page.html").returncode == 0, "two files")
    opened = block(read_text("page.html"))
    check(opened["other"]["name"] == "second.bin" and base64.b64decode(opened["other"]["bytes"]) == b"second", opened["other"])
    check(explore(tool, "file.bin", "second.bin", "file.bin", "-o", "page2.html").returncode == 2, "three files")
    check(explore(tool, "file.bin", "absent.bin", "-o", "page2.html").returncode == 4, "no second file")
    check(not os.path.exists("page2.html"), "a page although it failed")


def test_odd_files():
    tool = install()
    with open("empty", "wb"):
        pass
    check(explore(tool, "empty", "-o", "page.html").returncode == 0, "an empty file can be looked at")
    check(block(read_text("page.html"))["bytes"] == "", "an empty file")
    check(explore(tool, ".", "-o", "page4.html").returncode == 4, "a folder")
    check(explore(tool).returncode == 2, "no file")
    check(explore(tool, "file.bin", "-f", "nonsense", "-o", "page4.html").returncode == 2, "no such format")
    check(not os.path.exists("page4.html"), "a page although it failed")


def test_document_names_the_page():
    done = explore(install(), "file.bin", "--json", "-o", "page.html")
    document = json.loads(done.stdout)
    check(document["output"] == "page.html" and document["size"] == os.path.getsize("page.html"), document)
    check(explore(install(), "file.bin", "--json").returncode == 2, "a server has no document")


def test_missing_things_are_told():
    tool = install(page=None)
    done = explore(tool, "file.bin", "-o", "page.html")
    check(done.returncode == 4 and b"one command is missing: make web (of an installed tool: make web install)" in done.stderr and
          not os.path.exists("page.html"),
          done)
    tool = install("<!DOCTYPE html>no place")
    done = explore(tool, "file.bin", "--no-open")
    check(done.returncode == 4 and b"no place for a file" in done.stderr, done)
    done = explore(install(), "absent.bin", "-o", "page.html")
    check(done.returncode == 4, done)
    done = explore(install(), "file.bin", "-o", "file.bin")
    check(done.returncode != 0 and os.path.getsize("file.bin") == len(HOSTILE), done)


def test_built_page_needs_nothing_from_outside():
    if not os.path.exists(BUILT):
        print("no build/web/penta.html: what make web builds is not looked at")
        return
    text = read_text(BUILT)
    check(text.count("<!-- penta:file -->") == 1, "one place for the file")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    check(policy and "default-src 'none'" in policy[1] and "'unsafe-inline'" not in policy[1] and
          "'unsafe-eval'" not in policy[1] and "connect-src" not in policy[1], policy and policy[1])
    for script in re.findall(r"<script type=\"module\">(.*?)</script>", text, re.S):
        check("fetch(" not in script or "examples-data" in script, "the page fetches something")
    check(not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?!data:)", text), "a reference to another file")
    text, notices = re.subn(r'<script type="text/plain" id="notice">.*?</script>', "", text, flags=re.S)
    check(notices == 1, "the notice, whose licences name pages, is text")
    for name in ("https://", "http://"):
        for at in re.finditer(name, text):
            check(text.startswith("http://www.w3.org/2000/svg", at.start()), text[at.start() - 20:at.start() + 60])


if __name__ == "__main__":
    sys.exit(main(globals(), prepare))
