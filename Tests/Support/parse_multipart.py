#!/usr/bin/env python3
"""Reads multipart/form-data bodies with parsers of other projects.

usage: parse_multipart.py email|werkzeug|python-multipart < forms
Takes forms as JSON, [{"contentType", "body" (Base64)}, ...], and prints the parts of each form in order:
[[{"name", "filename", "contentType", "content" (Base64)}, ...], ...].
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
    # In small pieces, so that delimiters are cut in the middle. But not between the two hyphens of the last one, where
    # Werkzeug 3.1 takes the CR before the delimiter for content.
    uncuttable = body.rindex(b"--") + 1
    borders = [0] + [at + (at == uncuttable) for at in range(1009, len(body), 1009)] + [len(body)]
    pieces = [body[start:end] for start, end in zip(borders, borders[1:])] + [None]
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


def with_python_multipart(body, content_type):
    from python_multipart.multipart import MultipartParser, parse_options_header

    parts, field, value, fields, content = [], bytearray(), bytearray(), {}, bytearray()

    def begin():
        fields.clear()
        content.clear()

    def end_of_field():
        fields[bytes(field).lower()] = bytes(value)
        field.clear()
        value.clear()

    def end():
        kind, options = parse_options_header(fields[b"content-disposition"])
        if kind != b"form-data":
            raise ValueError(f"a part of kind {kind}")
        text = {key: option.decode() for key, option in options.items()}
        own_type = fields.get(b"content-type")
        parts.append(part(text.get(b"name"), text.get(b"filename"), own_type and own_type.decode(), bytes(content)))

    parser = MultipartParser(
        parse_options_header(content_type)[1][b"boundary"],
        {
            "on_part_begin": begin,
            "on_header_field": lambda data, start, end: field.extend(data[start:end]),
            "on_header_value": lambda data, start, end: value.extend(data[start:end]),
            "on_header_end": end_of_field,
            "on_part_data": lambda data, start, end: content.extend(data[start:end]),
            "on_part_end": end,
        },
    )
    for at in range(0, len(body), 1013):
        parser.write(body[at : at + 1013])
    parser.finalize()
    return parts


if __name__ == "__main__":
    read = {"email": with_email, "werkzeug": with_werkzeug, "python-multipart": with_python_multipart}[sys.argv[1]]
    forms = json.load(sys.stdin)
    json.dump([read(base64.b64decode(form["body"]), form["contentType"]) for form in forms], sys.stdout)
