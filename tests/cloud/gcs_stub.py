#!/usr/bin/env python3
"""What GCS does of its XML API, as far as the library asks for it: objects as files of a directory.

    gcs_stub.py PORT DIRECTORY TOKEN [VICE]

A create is a put with `x-goog-if-generation-match: 0`, and one of many wins, by link(2). What was answered is there after
the process was killed. Buckets are the folders of DIRECTORY.

With a VICE it breaks one rule, as stores do that must be found out: `races` (of those who create a key at once several
win), `lists-late` (what was just created is not listed yet), `lists-backwards`, `cuts-ranges` (fewer bytes than it says).
"""

import base64
import contextlib
import http.server
import itertools
import os
import pathlib
import re
import sys
import threading
import time
import urllib.parse
import xml.sax.saxutils

_PAGE_MAX = 1000
_CHECKED_BYTES_MAX = 1 << 16  # It takes Python a second to sum up some megabytes.
_LATE_SECONDS = 5
_DATE = "Mon, 02 Jan 2006 15:04:05 GMT"  # Nobody reads it.


def crc32c(body):
    crc = 0xFFFFFFFF
    for byte in body:
        crc = _CRC32C[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "big")


def _crc32c_entry(crc):
    for _ in range(8):
        crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc


_CRC32C = [_crc32c_entry(byte) for byte in range(256)]


class Bucket:
    """Keys are paths below `root`, as none of them is a prefix of another."""

    def __init__(self, root, temporaries, vice):
        self.root = root
        self.vice = vice
        self._temporaries = temporaries
        self._numbers = itertools.count()
        self._racing = {}  # Of creators, by key.
        self._came = threading.Condition()

    def _await_rival(self, key):
        """Looks whether the key is free, and then is slow: until another has looked too."""
        if (self.root / key).exists():
            return False
        with self._came:
            self._racing[key] = self._racing.get(key, 0) + 1
            self._came.notify_all()
            self._came.wait_for(lambda: self._racing[key] > 1, timeout=0.2)
        return True

    def put(self, key, body, create):
        """False where it was to be created and exists."""
        if create and self.vice == "races":
            if not self._await_rival(key):
                return False
            create = False
        temporary = self._temporaries / f"{os.getpid()}-{next(self._numbers)}"
        temporary.write_bytes(body)
        path = self.root / key
        try:
            while True:
                # Other requests make its folder, and remove it where it became empty: mkdir() then says that it exists.
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    path.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileNotFoundError):
                    path.hardlink_to(temporary) if create else os.replace(temporary, path)
                    return True
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)

    def delete(self, key):
        """False where it is not there. Empty folders go with it, since their names may be those of keys."""
        path = self.root / key
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return False
        with contextlib.suppress(OSError):
            while path.parent != self.root:
                path = path.parent
                path.rmdir()
        return True

    def keys(self, prefix, after):
        found = []
        for folder, _, names in os.walk(self.root):
            found.extend((pathlib.Path(folder) / name).relative_to(self.root).as_posix() for name in names)
        return sorted(key for key in found if key.startswith(prefix) and key > after)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Head and body are two writes.
    wbufsize = -1

    def setup(self):
        super().setup()
        self.close_connection = False

    def log_message(self, *_):
        pass

    def _answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _fail(self, status, code):
        self._answer(status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def _target(self):
        """Bucket, key and query; None where there are none for this client, which is answered."""
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            self._fail(401, "AuthenticationRequired")
            return None
        path, _, query = self.path.partition("?")
        bucket, _, key = path[1:].partition("/")
        if urllib.parse.unquote(bucket) not in self.server.buckets:
            self._fail(404, "NoSuchBucket")
            return None
        pairs = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        return self.server.buckets[urllib.parse.unquote(bucket)], urllib.parse.unquote(key), pairs

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        target = self._target()
        if target is None:
            return
        wanted = re.search(r"crc32c=([^,]+)", self.headers.get("x-goog-hash", ""))
        if wanted and len(body) <= _CHECKED_BYTES_MAX and base64.b64decode(wanted[1]) != crc32c(body):
            self._fail(400, "BadDigest")
            return
        bucket, key, _ = target
        condition = self.headers.get("x-goog-if-generation-match")
        if condition not in (None, "0"):
            self._fail(501, "NotImplemented")
        elif bucket.put(key, body, create=condition == "0"):
            self._answer(200, ETag='"1"', x_goog_generation="1")
        else:
            self._fail(412, "PreconditionFailed")

    def do_GET(self):
        target = self._target()
        if target is None:
            return
        bucket, key, query = target
        if not key:
            self._list(bucket, query)
            return
        try:
            body = (bucket.root / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            self._fail(404, "NoSuchKey")
            return
        headers = {"ETag": '"1"', "Last_Modified": _DATE, "x_goog_generation": "1"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked:
            self._answer(200, body, **headers)
            return
        first, last = int(asked[1]), min(int(asked[2]), len(body) - 1)
        if first >= len(body):
            self._fail(416, "InvalidRange")
            return
        end = last if bucket.vice == "cuts-ranges" and last > first else last + 1
        self._answer(206, body[first:end], Content_Range=f"bytes {first}-{last}/{len(body)}", **headers)

    do_HEAD = do_GET

    def _list(self, bucket, query):
        after = max(query.get("start-after", ""), query.get("continuation-token", ""))
        limit = min(int(query.get("max-keys", _PAGE_MAX)), _PAGE_MAX)
        keys = bucket.keys(query.get("prefix", ""), after)
        if bucket.vice == "lists-late":
            keys = [key for key in keys if time.time() - (bucket.root / key).stat().st_mtime > _LATE_SECONDS]
        if bucket.vice == "lists-backwards":
            keys.reverse()
        parts = []
        for key in keys[:limit]:
            with contextlib.suppress(FileNotFoundError):  # Deleted meanwhile.
                size = (bucket.root / key).stat().st_size
                parts.append(
                    f"<Contents><Key>{xml.sax.saxutils.escape(key)}</Key><LastModified>2006-01-02T15:04:05Z</LastModified>"
                    f"<ETag>&quot;1&quot;</ETag><Size>{size}</Size></Contents>"
                )
        if len(keys) > limit:
            parts.append(f"<NextContinuationToken>{xml.sax.saxutils.escape(keys[limit - 1])}</NextContinuationToken>")
        self._answer(200, f"<?xml version='1.0'?><ListBucketResult>{''.join(parts)}</ListBucketResult>".encode())

    def do_DELETE(self):
        target = self._target()
        if target is None:
            return
        bucket, key, _ = target
        if bucket.delete(key):
            self._answer(204)
        else:
            self._fail(404, "NoSuchKey")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def main():
    directory = pathlib.Path(sys.argv[2])
    temporaries = directory / ".temporaries"
    temporaries.mkdir(exist_ok=True)
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    vice = sys.argv[4] if len(sys.argv) > 4 else ""
    server.buckets = {path.name: Bucket(path, temporaries, vice) for path in directory.iterdir() if path != temporaries}
    server.token = sys.argv[3]
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
