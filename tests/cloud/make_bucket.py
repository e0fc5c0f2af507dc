#!/usr/bin/env python3
"""Makes a bucket with versioning, or with object lock and a retention of a day, on a server that speaks as S3 does: the library
has no call for it.

    make_bucket.py PORT KEY SECRET BUCKET versioned|locked
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import sys

_REGION = "us-east-1"
_VERSIONED = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
_LOCKED = (
    "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode>"
    "<Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>"
)


def put(port, key, secret, path, query="", body=b"", headers=None):
    """A PUT signed by version 4 of Amazon's signatures."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    digest = hashlib.sha256(body).hexdigest()
    host = f"127.0.0.1:{port}"
    checksum = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    signed = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp, "content-md5": checksum} | (headers or {})
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    request = f"PUT\n{path}\n{query}\n{lines}\n{names}\n{digest}"
    scope = f"{day}/{_REGION}/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    signing_key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        signing_key = hmac.digest(signing_key, part.encode(), "sha256")
    signature = hmac.new(signing_key, to_sign.encode(), "sha256").hexdigest()
    signed["Authorization"] = f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    connection.request("PUT", f"{path}?{query}" if query else path, body=body, headers=signed)
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        sys.exit(f"make_bucket: {path}?{query}: {answer.status} {text}")


def main():
    port, key, secret, bucket, kind = sys.argv[1:]
    lock = {"x-amz-bucket-object-lock-enabled": "true"} if kind == "locked" else None
    put(port, key, secret, f"/{bucket}", headers=lock)
    if kind == "versioned":
        put(port, key, secret, f"/{bucket}", "versioning=", _VERSIONED.encode())
    else:
        put(port, key, secret, f"/{bucket}", "object-lock=", _LOCKED.encode())


if __name__ == "__main__":
    main()
