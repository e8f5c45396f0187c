"""Chromium without a window, which signs in at the login pages of the servers as a user would.

Reads a JSON object a line from standard input, and writes one for each. It speaks the WebDriver protocol
(https://www.w3.org/TR/webdriver2/) to chromedriver, and needs no package. It ends when its standard input does.

    {"visit": URL, "until": PREFIX, "server": "glewlwyd", "sign": "in", "user": …, "password": …, "pictures": FOLDER,
     "name": …}
        opens the URL, and does what the server's pages ask for until the address begins with the prefix. The pictures
        are those of each page on which it has acted, and of the last one. `sign` is `in`, `deny` or `out`.
    {"forget": true}
        deletes all cookies.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# The key of an element in the protocol.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
LIMIT = 15


class Failure(Exception):
    """The browser could not do what it was asked for."""


class Driver:
    """A session of chromedriver."""

    def __init__(self, profile):
        command = shutil.which("chromedriver") or sys.exit("There is no chromedriver. Install chromium-driver.")
        self.process = subprocess.Popen(
            [command, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if "started successfully on port" in line:
                self.base = f"http://127.0.0.1:{line.split()[-1].rstrip('.')}/session"
                break
        arguments = [
            "--headless=new", f"--user-data-dir={profile}", "--window-size=1000,800", "--lang=en-US",
            "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
            # The claimed redirect leads to a host that does not exist, here and everywhere.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments, "prefs": {"intl.accept_languages": "en-US,en"}}
        session = self.send("POST", "", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "pageLoadStrategy": "eager"}}})
        self.base += "/" + session["sessionId"]

    def send(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Failure(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def find(self, selector):
        """The first element of a CSS selector that is shown and can be used, or None."""
        for element in self.send("POST", "/elements", {"using": "css selector", "value": selector}):
            path = f"/element/{element[ELEMENT]}"
            if self.send("GET", f"{path}/displayed") and self.send("GET", f"{path}/enabled"):
                return path
        return None

    def type(self, path, text):
        self.send("POST", f"{path}/clear")
        self.send("POST", f"{path}/value", {"text": text})

    def close(self):
        try:
            self.send("DELETE", "")
        except (Failure, OSError):
            pass
        self.process.terminate()
        self.process.wait()


# The actions of a user on the pages of each server, to sign in, to deny it and to sign out: a name, the fields to fill
# in, and the element to press. The first one whose elements are shown is taken.
STEPS = {
    "glewlwyd": {
        "in": [
            ("login", {"#username": "user", "#password": "password"}, "#loginbut"),
            ("continue", {}, "button.btn-success"),
        ],
        "out": [("logout", {}, "button.btn-danger:not(.dropdown-toggle)")],
    },
    "canaille_site": {
        "in": [
            ("name", {"input[name=login]": "user"}, "button[name=answer]"),
            ("password", {"input[type=password]": "password"}, "button[type=submit].primary"),
            ("consent", {}, "#accept"),
        ],
        "deny": [
            ("name", {"input[name=login]": "user"}, "button[name=answer]"),
            ("password", {"input[type=password]": "password"}, "button[type=submit].primary"),
            ("deny", {}, "#deny"),
        ],
        "out": [("logout", {}, "#logout")],
    },
    "toolkit_oidc": {
        "in": [
            ("login", {"#id_username": "user", "#id_password": "password"}, "input[type=submit]"),
            ("consent", {}, "input[name=allow]"),
        ],
        "deny": [
            ("login", {"#id_username": "user", "#id_password": "password"}, "input[type=submit]"),
            ("deny", {}, "input[type=submit]:not([name=allow])"),
        ],
        "out": [("logout", {}, "input[name=allow]")],
    },
}


class Visit:
    def __init__(self, driver, order):
        self.driver, self.order = driver, order
        self.number = 0

    def picture(self, name):
        if folder := self.order.get("pictures"):
            self.number += 1
            data = self.driver.send("GET", "/screenshot")
            pathlib.Path(folder, f"{self.order['name']}-{self.number}-{name}.png").write_bytes(base64.b64decode(data))

    def run(self):
        driver, until = self.driver, self.order["until"]
        driver.send("POST", "/url", {"url": self.order["visit"]})
        end, done = time.monotonic() + LIMIT, []
        while time.monotonic() < end:
            url = driver.send("GET", "/url")
            if url.startswith(until):
                return self.finish(url, done)
            try:
                step = self.step()
            except Failure as failure:
                # The page has changed under the hands of the user.
                if "stale element" not in str(failure) and "no such" not in str(failure):
                    raise
                step = None
            if step:
                done.append(step)
            else:
                time.sleep(0.05)
        self.picture("stuck")
        raise Failure(f"stuck at {url.split('?')[0]} after {', '.join(done) or 'nothing'}: " + self.text()[:400])

    def step(self):
        for name, fields, button in STEPS[self.order["server"]][self.order["sign"]]:
            pressed = self.driver.find(button)
            found = {path: self.driver.find(path) for path in fields}
            if pressed is None or None in found.values():
                continue
            # A page may show a button before it has read what the button needs.
            time.sleep(0.2)
            for selector, value in fields.items():
                self.driver.type(found[selector], self.order.get(value, value))
            self.picture(name)
            self.driver.send("POST", f"{pressed}/click")
            return name
        return None

    def finish(self, url, done):
        # The address changes before the page is shown.
        for _ in range(100):
            if self.evaluate("return document.readyState") == "complete":
                break
            time.sleep(0.02)
        self.picture("end")
        return {"url": url, "steps": done, "title": self.driver.send("GET", "/title"), "text": self.text()}

    def text(self):
        return self.evaluate("return document.body ? document.body.innerText : ''")

    def evaluate(self, script):
        return self.driver.send("POST", "/execute/sync", {"script": script, "args": []})


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-browser-", ignore_cleanup_errors=True) as profile:
        driver = Driver(profile)
        try:
            print(json.dumps({"browser": "ready"}), flush=True)
            for line in sys.stdin:
                order = json.loads(line)
                try:
                    if order.get("forget"):
                        driver.send("POST", "/goog/cdp/execute", {"cmd": "Network.clearBrowserCookies", "params": {}})
                        answer = {}
                    else:
                        answer = Visit(driver, order).run()
                except (Failure, OSError) as failure:
                    answer = {"failure": str(failure)}
                print(json.dumps(answer), flush=True)
        finally:
            driver.close()


main()
