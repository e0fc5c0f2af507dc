#!/usr/bin/env python3
"""Creates a container on a server that speaks as Azure does, which the library has no call for.

    create_container.py PORT ACCOUNT KEY CONTAINER
"""

import base64
import email.utils
import hashlib
import hmac
import http.client
import sys

_VERSION = "2021-08-06"


def main():
    port, account, key, container = sys.argv[1:]
    date = email.utils.formatdate(usegmt=True)
    # Twelve standard headers, of which a request without a body has none.
    resource = f"/{account}/{account}/{container}\nrestype:container"
    to_sign = f"PUT{12 * chr(10)}x-ms-date:{date}\nx-ms-version:{_VERSION}\n{resource}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), to_sign.encode(), hashlib.sha256)).decode()
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    headers = {"x-ms-date": date, "x-ms-version": _VERSION, "Authorization": f"SharedKey {account}:{signature}"}
    connection.request("PUT", f"/{account}/{container}?restype=container", headers=headers)
    answer = connection.getresponse()
    return 0 if answer.status == 201 else f"create_container: {answer.status} {answer.read().decode()}"


if __name__ == "__main__":
    sys.exit(main())
