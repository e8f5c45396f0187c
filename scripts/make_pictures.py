#!/usr/bin/env python3
"""Makes the pictures that the tests of MartletImages read, in Tests/MartletImagesTests/Fixtures.

They are committed, so this only has to run when one is added. It needs Pillow with AVIF and, for the HEIC, pillow-heif
(pip install pillow pillow-heif). The picture is the same nearly everywhere: four quarters, red, green, blue and yellow from
top left to bottom right, 48 x 32 pixels.
"""

import io
import pathlib
import struct
import zlib

import pillow_heif
from PIL import Image, ImageChops, PngImagePlugin

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Tests" / "MartletImagesTests" / "Fixtures"
SIZE = (48, 32)
COLOURS = [(220, 30, 30), (30, 180, 40), (30, 40, 200), (230, 210, 40)]


def quarters(size=SIZE):
    width, height = size
    picture = Image.new("RGB", size)
    for index, colour in enumerate(COLOURS):
        left, top = index % 2 * (width // 2), index // 2 * (height // 2)
        picture.paste(colour, (left, top, left + width // 2, top + height // 2))
    return picture


def encoded(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def write(name, content):
    (FOLDER / name).write_bytes(content)


def exif(orientation=1, gps=False):
    """Big-endian EXIF with an orientation, a maker and, on request, a place."""
    entries = [(0x010F, 2, b"Martlet Camera\0"), (0x0112, 3, struct.pack(">HH", orientation, 0))]
    tail = b""
    count = len(entries) + gps
    after = 8 + 2 + 12 * count + 4
    body = struct.pack(">H", count)
    for tag, kind, value in entries:
        if len(value) > 4:
            body += struct.pack(">HHII", tag, kind, len(value), after + len(tail))
            tail += value + b"\0" * (len(value) % 2)
        else:
            body += struct.pack(">HHI", tag, kind, 1) + value
    if gps:
        body += struct.pack(">HHII", 0x8825, 4, 1, after + len(tail))
        place = struct.pack(">H", 2) + struct.pack(">HHI4s", 1, 2, 2, b"N\0\0\0")
        start = after + len(tail) + 2 + 24 + 4
        place += struct.pack(">HHII", 2, 5, 3, start) + struct.pack(">I", 0)
        tail += place + struct.pack(">6I", 51, 1, 30, 1, 26, 1)
    return b"MM\0*" + struct.pack(">I", 8) + body + struct.pack(">I", 0) + tail


def profile(name, primaries):
    """An ICC profile of version 2.4 with these primaries (adapted to D50) and the curve of sRGB."""

    def fixed(values):
        return b"".join(struct.pack(">i", round(value * 65536)) for value in values)

    curve = b"para" + bytes(4) + struct.pack(">HH", 3, 0) + fixed([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    text = name.encode() + b"\0"
    tags = [
        (b"desc", b"desc" + bytes(4) + struct.pack(">I", len(text)) + text + bytes(78)),
        (b"wtpt", b"XYZ " + bytes(4) + fixed([0.9642, 1.0, 0.8249])),
    ]
    tags += [(tag, b"XYZ " + bytes(4) + fixed(value)) for tag, value in zip((b"rXYZ", b"gXYZ", b"bXYZ"), primaries)]
    tags += [(tag, curve) for tag in (b"rTRC", b"gTRC", b"bTRC")]
    table, data = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for tag, content in tags:
        content += bytes(-len(content) % 4)
        table += tag + struct.pack(">II", start + len(data), len(content))
        data += content
    body = struct.pack(">I", len(tags)) + table + data
    head = struct.pack(">I4sI4s4s4s", 128 + len(body), bytes(4), 0x02400000, b"mntr", b"RGB ", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + fixed([0.9642, 1.0, 0.8249])
    return head.ljust(128, b"\0") + body


P3 = profile("Display P3", [(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)])
SRGB = profile("sRGB", [(0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410)])


def segment(marker, content):
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def with_segment(jpeg, marker, content):
    """The JPEG with a segment after its first one."""
    length = struct.unpack(">H", jpeg[4:6])[0]
    return jpeg[: 4 + length] + segment(marker, content) + jpeg[4 + length :]


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(size, depth, kind, rows, extra=b"", interlaced=False):
    """A PNG of rows without filters; interlaced ones by Adam7."""
    width, height = size
    step = len(rows[0]) // width
    if interlaced:
        data = b""
        for left, top, across, down in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
            for row in rows[top::down]:
                pixels = [row[x * step : (x + 1) * step] for x in range(left, width, across)]
                if pixels:
                    data += b"\0" + b"".join(pixels)
    else:
        data = b"".join(b"\0" + row for row in rows)
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    )


def rows_of(picture):
    data, (width, height) = picture.tobytes(), picture.size
    stride = len(data) // height
    return [data[index * stride : (index + 1) * stride] for index in range(height)]


def jpegs():
    picture = quarters()
    plain = encoded(picture, "JPEG", quality=90, subsampling=0)
    write("clean.jpg", plain)
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    for orientation in range(1, 9):
        stored = picture.transpose(turns[orientation]) if orientation > 1 else picture
        jpeg = encoded(stored, "JPEG", quality=90, subsampling=0)
        write(f"orientation-{orientation}.jpg", with_segment(jpeg, 0xE1, b"Exif\0\0" + exif(orientation)))
    write("gps.jpg", with_segment(plain, 0xE1, b"Exif\0\0" + exif(6, gps=True)))
    xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>51.5 N</x:xmpmeta>"
    write("xmp.jpg", with_segment(plain, 0xE1, xmp))
    photoshop = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", 6) + b"\x1c\x02\x5a\0\x01X"
    write("photoshop.jpg", with_segment(plain, 0xED, photoshop))
    write("comment.jpg", with_segment(plain, 0xFE, b"taken at home"))
    write("mpf.jpg", with_segment(plain, 0xE2, b"MPF\0MM\0*\0\0\0\x08\0\0\0\0\0\0"))
    write("trailing.jpg", plain + b"the clip of a moving photo")
    write("grey.jpg", encoded(picture.convert("L"), "JPEG", quality=90))
    write("progressive.jpg", encoded(quarters((96, 64)), "JPEG", quality=90, progressive=True))
    write("p3.jpg", encoded(picture, "JPEG", quality=95, subsampling=0, icc_profile=P3))
    write("srgb.jpg", encoded(picture, "JPEG", quality=90, subsampling=0, icc_profile=SRGB))
    write("1x1.jpg", encoded(Image.new("RGB", (1, 1), (10, 200, 30)), "JPEG", quality=95))
    frame = plain.index(b"\xff\xc0")
    write("bomb.jpg", plain[: frame + 5] + struct.pack(">HH", 65500, 65500) + plain[frame + 9 :])
    cmyk()


def cmyk():
    inks = quarters().convert("CMYK")
    write("cmyk.jpg", encoded(inks, "JPEG", quality=95))
    # Pillow writes 255 - ink. YCCK holds Y, Cb and Cr of the ink as if it were light; Adobe's marker says which of the two it is.
    y, cb, cr = Image.merge("RGB", [*inks.split()[:3]]).convert("YCbCr").split()
    k = ImageChops.invert(inks.split()[3])
    stored = Image.merge("CMYK", [ImageChops.invert(plane) for plane in (y, cb, cr, k)])
    ycck = bytearray(encoded(stored, "JPEG", quality=95))
    ycck[ycck.index(b"Adobe") + 11] = 2
    write("ycck.jpg", bytes(ycck))


def pngs():
    picture = quarters()
    write("clean.png", encoded(picture, "PNG", optimize=True))
    rgb16 = [bytes(value for byte in row for value in (byte, 0x80)) for row in rows_of(picture)]
    write("rgb16.png", png(SIZE, 16, 2, rgb16))
    grey = picture.convert("L")
    write("grey.png", png(SIZE, 8, 0, rows_of(grey)))
    half = Image.new("L", SIZE, 255)
    half.paste(0, (0, 0, 24, 32))
    half.paste(128, (0, 0, 12, 32))
    write("grey-alpha.png", encoded(Image.merge("LA", [grey, half]), "PNG"))
    clear = picture.copy()
    clear.putalpha(half)
    write("alpha.png", encoded(clear, "PNG"))
    # Four colours, the first of which is transparent.
    indices = [bytes((x >= 24) + 2 * (y >= 16) for x in range(48)) for y in range(32)]
    palette = chunk(b"PLTE", b"".join(bytes(colour) for colour in COLOURS)) + chunk(b"tRNS", b"\0\xff")
    write("palette.png", png(SIZE, 8, 3, indices, palette))
    write("interlaced.png", png((45, 31), 8, 2, rows_of(quarters((45, 31))), interlaced=True))
    write("gamma.png", png(SIZE, 8, 2, rows_of(picture), chunk(b"gAMA", struct.pack(">I", 100000))))
    write("iccp.png", encoded(picture, "PNG", icc_profile=P3))
    text = PngImagePlugin.PngInfo()
    text.add_text("Location", "51.5 N")
    write("text.png", encoded(picture, "PNG", pnginfo=text))
    write("animated.png", encoded(picture, "PNG", save_all=True, append_images=[picture.transpose(0)], duration=100))
    write("1x1.png", encoded(Image.new("RGB", (1, 1), (10, 200, 30)), "PNG"))
    write("strip.png", encoded(Image.linear_gradient("L").rotate(90).resize((20000, 10)), "PNG", optimize=True))
    bomb = chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(1000)))
    write("bomb.png", b"\x89PNG\r\n\x1a\n" + bomb + chunk(b"IEND", b""))


def others():
    picture = quarters()
    write("clean.webp", encoded(picture, "WEBP", quality=90))
    clear = picture.copy()
    clear.putalpha(Image.linear_gradient("L").resize(SIZE))
    write("alpha.webp", encoded(clear, "WEBP", lossless=True))
    write("lossy-alpha.webp", encoded(clear, "WEBP", quality=90))
    turned = picture.transpose(Image.Transpose.ROTATE_90)
    write("orientation-6.webp", encoded(turned, "WEBP", quality=90, exif=b"Exif\0\0" + exif(6, gps=True)))
    write("animated.webp", encoded(picture, "WEBP", save_all=True, append_images=[picture.transpose(0)], quality=90))
    write("animated.gif", encoded(picture, "GIF", save_all=True, append_images=[picture.transpose(0)]))
    write("quarters.avif", encoded(quarters((128, 96)), "AVIF", quality=80))
    heif = pillow_heif.from_pillow(quarters((128, 96)))
    out = io.BytesIO()
    heif.save(out, quality=80)
    write("quarters.heic", out.getvalue())
    out = io.BytesIO()
    heif.save(out, quality=80, exif=b"Exif\0\0" + exif(gps=True))
    write("exif.heic", out.getvalue())
    clear = quarters((64, 64))
    half = Image.new("L", (64, 64), 255)
    half.paste(128, (0, 0, 32, 64))
    clear.putalpha(half)
    heif = pillow_heif.from_pillow(clear.convert("RGBa"))
    out = io.BytesIO()
    heif.save(out, quality=90)
    write("premultiplied.heic", out.getvalue())


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    jpegs()
    pngs()
    others()
