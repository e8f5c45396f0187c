"""Flask-JWT-Extended: `POST /login`, `POST /refresh` with the refresh token as a bearer token, `GET /me`."""

import datetime
import secrets
import sys

from flask import Flask, jsonify
from flask_jwt_extended import JWTManager, create_access_token, create_refresh_token, get_jwt_identity, jwt_required

from counting import serve

app = Flask(__name__)
app.config["JWT_SECRET_KEY"] = secrets.token_hex(32)
app.config["JWT_ACCESS_TOKEN_EXPIRES"] = datetime.timedelta(seconds=int(sys.argv[1]))
JWTManager(app)


@app.post("/login")
def login():
    return jsonify(access_token=create_access_token("ada"), refresh_token=create_refresh_token("ada"))


@app.post("/refresh")
@jwt_required(refresh=True)
def refresh():
    return jsonify(access_token=create_access_token(get_jwt_identity()))


@app.get("/me")
@jwt_required()
def me():
    return jsonify(name=get_jwt_identity())


serve(app, "/refresh")
