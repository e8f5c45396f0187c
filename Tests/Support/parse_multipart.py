#!/usr/bin/env python3
"""Reads a multipart/form-data body with parsers that Martlet's authors did not write.

usage: parse_multipart.py email|werkzeug CONTENT-TYPE < body
Prints the parts as JSON: [{"name", "filename", "contentType", "content" (Base64)}, ...], in the order of the body.
"""
import base64
import json
import sys


def part(name, filename, content_type, content):
    return {
        "name": name,
        "filename": filename,
        "contentType": content_type,
        "content": base64.b64encode(content).decode(),
    }


def with_email(body, content_type):
    from email.parser import BytesParser
    from email.policy import HTTP

    head = b"MIME-Version: 1.0\r\nContent-Type: " + content_type.encode() + b"\r\n\r\n"
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    parts = []
    for each in message.iter_parts():
        disposition = each["Content-Disposition"]
        parts.append(
            part(
                disposition.params.get("name"),
                disposition.params.get("filename"),
                each.get("Content-Type"),
                each.get_payload(decode=True),
            )
        )
    return parts


def with_werkzeug(body, content_type):
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

    decoder = MultipartDecoder(parse_options_header(content_type)[1]["boundary"].encode())
    parts, current, content = [], None, []
    # In small pieces, so that delimiters are cut in the middle.
    pieces = [body[at : at + 1009] for at in range(0, len(body), 1009)] + [None]
    for piece in pieces:
        decoder.receive_data(piece)
        event = decoder.next_event()
        while not isinstance(event, (NeedData, Epilogue)):
            if isinstance(event, (Field, File)):
                current, content = event, []
            elif isinstance(event, Data):
                content.append(event.data)
                if not event.more_data:
                    filename = getattr(current, "filename", None)
                    own_type = current.headers.get("Content-Type")
                    parts.append(part(current.name, filename, own_type, b"".join(content)))
            event = decoder.next_event()
    return parts


if __name__ == "__main__":
    read = {"email": with_email, "werkzeug": with_werkzeug}[sys.argv[1]]
    json.dump(read(sys.stdin.buffer.read(), sys.argv[2]), sys.stdout)
