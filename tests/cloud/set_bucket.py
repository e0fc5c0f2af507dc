#!/usr/bin/env python3
"""Sets up a bucket on a server that speaks as S3 does: plain, with versioning, or with object lock and a retention of a day; or says
what a user may do there. The library has no calls for it.

    set_bucket.py PORT KEY SECRET BUCKET plain|versioned|locked
    set_bucket.py PORT KEY SECRET BUCKET allow USER ACTION[=KEYS]...
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import json
import sys
import time

_REGION = "us-east-1"
_TRIES_MAX = 600  # MinIO listens some time before it knows its disks.
_PAUSE_SECONDS = 0.1
_VERSIONED = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
_LOCKED = (
    "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode>"
    "<Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>"
)


def put(*request):
    """Until the server is ready for it."""
    for _ in range(_TRIES_MAX):
        status, text = put_once(*request)
        if status != 503:
            break
        time.sleep(_PAUSE_SECONDS)
    if status not in (200, 204):
        sys.exit(f"set_bucket: {request[3:5]}: {status} {text}")


def put_once(port, key, secret, path, query="", body=b"", headers=None):
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
    return answer.status, answer.read().decode()


def policy_of(bucket, user, actions):
    """What `user` may do: an action of the bucket, or of the objects whose keys are as is said behind a '='."""
    statements = []
    for word in actions:
        action, _, keys = word.partition("=")
        resource = bucket if action.startswith("s3:ListBucket") else f"{bucket}/{keys or '*'}"
        statements.append(
            {
                "Effect": "Allow",
                "Principal": {"AWS": [user]},
                "Action": [action],
                "Resource": [f"arn:aws:s3:::{resource}"],
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def main():
    port, key, secret, bucket, kind, *more = sys.argv[1:]
    server = (port, key, secret, f"/{bucket}")
    if kind == "allow":
        user, *actions = more
        put(*server, "policy=", policy_of(bucket, user, actions).encode())
        return
    put(*server, "", b"", {"x-amz-bucket-object-lock-enabled": "true"} if kind == "locked" else {})
    if kind == "versioned":
        put(*server, "versioning=", _VERSIONED.encode())
    if kind == "locked":
        put(*server, "object-lock=", _LOCKED.encode())


if __name__ == "__main__":
    main()
