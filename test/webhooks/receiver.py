"""A partner's webhook receiver with nothing but Python's standard library, written after the interface document.

    receiver.py CERT KEY

Listens with TLS on 127.0.0.1 and prints one line of JSON: {"port": N}. Reads commands from standard input, one JSON
object a line, each confirmed by {"done": ID}:

    {"id": 1, "path": "/a", "secrets": ["whsec_..."], "answers": [{"status": 500}, {"status": 200}], "alter": false}
        How to verify and answer what comes to that path; the last answer is the one for all that follow. An answer
        may have "retry_after", "hold": true, which keeps it back until it is released, and "close": true, which
        closes the connection behind it. "alter" changes one byte of what came in before it is verified.
    {"id": 2, "path": "/a", "release": true}
        Gives the answers that are kept back.

Prints one line of JSON for each request as it comes in, and one ({"answered": DELIVERY}) once its answer has left.
"""

import base64
import hashlib
import hmac
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

printing = threading.Lock()
configuring = threading.Lock()
paths = {}


def say(line):
    with printing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Path:
    def __init__(self):
        self.secrets = []
        self.answers = [{"status": 200}]
        self.alter = False
        self.released = threading.Event()

    def next_answer(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def path_of(name):
    with configuring:
        return paths.setdefault(name, Path())


def is_license_signature(header, secret, body):
    expected = "sha256=" + hmac.new(secret.encode("utf-8"), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, header)


def is_standard_signature(headers, secret, body):
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode("utf-8") + body
    expected = "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode("ascii")
    given = headers["webhook-signature"].split(" ")
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return fresh and any([hmac.compare_digest(expected, each) for each in given])


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    altered = 0

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        at = time.time() * 1000
        path = path_of(self.path)
        body = raw
        if path.alter:
            middle = len(raw) // 2
            body = raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :]
        with configuring:
            answer = path.next_answer()
            secrets = list(path.secrets)
            # Read before the request is reported: from then on, it can be released, even before it waits.
            released = path.released
        license = self.headers["x-license-webhook-signature"]
        by_license = [number for number, secret in enumerate(secrets) if is_license_signature(license, secret, body)]
        by_standard = [
            number for number, secret in enumerate(secrets) if is_standard_signature(self.headers, secret, body)
        ]
        # Of every request, with one bit of its body changed.
        place = self.altered % len(raw)
        Receiver.altered += 1
        changed = raw[:place] + bytes([raw[place] ^ (1 << place % 8)]) + raw[place + 1 :]
        by_altered = [
            number
            for number, secret in enumerate(secrets)
            if is_license_signature(license, secret, changed) or is_standard_signature(self.headers, secret, changed)
        ]
        delivery = int(self.headers["x-license-delivery"])
        say(
            {
                "path": self.path,
                "event": self.headers["x-license-event"],
                "delivery": delivery,
                "message": self.headers["webhook-id"],
                "content_type": self.headers["content-type"],
                "header_names": [name.lower() for name in self.headers],
                "license_signature": license,
                "signature_count": len(self.headers["webhook-signature"].split(" ")),
                "by_license": by_license,
                "by_standard": by_standard,
                "by_altered": by_altered,
                "sha256": hashlib.sha256(raw).hexdigest(),
                "body": raw.decode("utf-8"),
                "at": at,
            }
        )
        if answer.get("hold"):
            released.wait()
        verified = not secrets or (by_license and by_standard)
        self.send_response(answer["status"] if verified else 401)
        if "retry_after" in answer:
            self.send_header("retry-after", str(answer["retry_after"]))
        if answer.get("close"):
            self.send_header("connection", "close")
        self.send_header("content-length", "0")
        self.end_headers()
        say({"answered": delivery, "path": self.path})

    def log_message(self, format, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A connection that was cut off is nothing to complain of.
        pass


def configure(command):
    path = path_of(command["path"])
    with configuring:
        if "release" in command:
            path.released.set()
            path.released = threading.Event()
        path.secrets = command.get("secrets", path.secrets)
        path.answers = command.get("answers", path.answers)
        path.alter = command.get("alter", path.alter)
    say({"done": command["id"]})


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = Server(("127.0.0.1", 0), Receiver)
    # The handshake belongs to the connection's own thread: one that hangs must not keep others out.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say({"port": server.server_address[1]})
    for line in sys.stdin:
        configure(json.loads(line))


main()
