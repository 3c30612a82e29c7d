"""A client made from the API's own document, with Python's standard library: every call is by its operationId.

    python_client.py BASE_URL API_TOKEN

Issues, activates, authorizes, renews and revokes a license, and prints one line of JSON.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request


class Client:
    def __init__(self, base_url, token):
        self.token = token
        with urllib.request.urlopen(base_url + "/openapi.json") as reply:
            document = json.load(reply)
        self.server = document["servers"][0]["url"]
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
        }

    def __getattr__(self, operation_id):
        method, path, operation = self.operations[operation_id]

        def call(**fields):
            parameters = operation.get("parameters", [])
            query = {p["name"]: fields.pop(p["name"]) for p in parameters if p["in"] == "query" and p["name"] in fields}
            headers = {p["name"]: fields.pop(p["name"]) for p in parameters if p["in"] == "header" and p["name"] in fields}
            if operation["security"]:
                headers["Authorization"] = "Bearer " + self.token
            body = None
            if "requestBody" in operation:
                body = json.dumps(fields).encode()
                headers["Content-Type"] = "application/json"
            url = self.server + path + ("?" + urllib.parse.urlencode(query) if query else "")
            request = urllib.request.Request(url, data=body, headers=headers, method=method)
            try:
                with urllib.request.urlopen(request) as reply:
                    status, answer = reply.status, json.load(reply)
            except urllib.error.HTTPError as error:
                status, answer = error.code, json.load(error)
            documented = operation["responses"][str(status)]["content"]["application/json"]["schema"]
            missing = [name for name in documented["required"] if name not in answer]
            assert not missing, (operation_id, status, missing)
            return answer

        return call


def main():
    client = Client(*sys.argv[1:3])
    license = client.createLicense(holder="Nordwind Forensik GmbH", plan="professional", order_number="SO-2")["license"]
    key = license["license_key"]
    fingerprint = "sha256:" + "b" * 64
    activated = client.activate(license_key=key, machine_fingerprint=fingerprint)
    allowed = client.authorize(license_key=key, machine_fingerprint=fingerprint)
    renewed = client.renew(**{"Idempotency-Key": "renewal-2"}, license_key=key, days=30)
    revoked = client.revokeLicense(license_key=key)
    refused = client.authorize(license_key=key)
    shown = client.showLicense(license_key=key)
    again = client.renew(license_key=key)
    print(
        json.dumps(
            {
                "state": license["state"],
                "activated": activated["license"]["state"],
                "authorized": allowed["authorized"],
                "renewed": renewed["license"]["expires_at"] > renewed["previous_expires_at"],
                "revoked": revoked["license"]["state"],
                "reason": refused["reason"],
                "devices": len(shown["devices"]),
                "code": again["error_code"],
            }
        )
    )


main()
