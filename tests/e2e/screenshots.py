"""scripts/screenshots: pictures of report pages."""
import argparse
import pathlib

from browser import Browser

# Name, width and height in CSS pixels, scheme, media; paper is A4.
SIZES = (("phone", 390, 844, "light", ""), ("phone-dark", 390, 844, "dark", ""), ("laptop", 1280, 860, "light", ""),
         ("laptop-dark", 1280, 860, "dark", ""), ("print", 794, 1123, "light", "print"))
MARGIN = "38px"  # of paper: 1 cm
LARGE = 250_000  # bytes of a picture in the repository


def main(folder, pages, whole):
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        for page in pages:
            path, _, part = page.partition("#")
            path = pathlib.Path(path).resolve(strict=True)
            for name, width, height, scheme, media in SIZES:
                browser.resize(width, height, mobile=name.startswith("phone"))
                browser.emulate(scheme)
                browser.open(path)
                browser.emulate(scheme, media)
                if media == "print":
                    browser.js("document.body.style.padding = arguments[0]", MARGIN)
                if part:
                    browser.js("document.getElementById(arguments[0]).scrollIntoView()", part)
                picture = browser.picture(whole)
                out = folder / f"{'-'.join(filter(None, (path.stem, part, name)))}.png"
                out.write_bytes(picture)
                print(f"{out}: {len(picture) / 1000:.0f} kB{' (large)' if len(picture) > LARGE else ''}")
    finally:
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="scripts/screenshots")
    parser.add_argument("--whole", action="store_true", help="whole pages, not what fits a screen")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("pages", nargs="+", metavar="PAGE[#PART]")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.pages, arguments.whole)
