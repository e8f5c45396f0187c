internal import Foundation
internal import HTTPTypes
internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Redaction", .timeLimit(.minutes(10)))
struct RedactionTests {
    @Test(
        "tokens are masked in every position",
        arguments: [jwt, opaque, hex, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
    func tokens(token: String) {
        for text in [
            token, "got \(token).", "(\(token))", "\"\(token)\"", "a=\(token)&b=c", "/reset/\(token)/x",
            "\"pin (\(token))\": 1",
        ] {
            let redacted = Redaction.redact(text)
            #expect(!redacted.contains(token), "\(redacted)")
            #expect(redacted.contains(Redaction.mask))
        }
    }

    @Test("neither a configuration, nor a call, nor a query shows a secret when it is printed") func printed() {
        var fields: HTTPFields = [.via: "shown"]
        fields.setSensitive("hunter2", for: .init("X-Api-Key")!)
        var config = NetworkConfig()
        config.headers = fields
        let call = Call<NoContent>.get("/films", query: ["token": "hunter2", "page": 2], headers: fields)
        for value in [config, call, call.query] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
        #expect("\(config)".contains("shown") && "\(call)".contains("/films"))
    }

    @Test(
        "values of sensitive names are masked in every notation",
        arguments: [
            #"{"password":"hunter2"}"#, #"{"password": "hunter2, with \"quotes\" & hunter2"}"#,
            #"{"new_password":"hunter2","page":3}"#, #"{"confirmPassword" : 'hunter2'}"#,
            #"{"client_secret":"hunter2"}"#, #"{"accessToken":"hunter2"}"#, #"{"csrf-token":"hunter2"}"#,
            #"{"body":"{\"password\":\"hunter2\"}"}"#, #"{"password":"hunter2"#, #"{"pass":1,"passwd":"\\hunter2\\"}"#,
            "grant_type=password&password=hunter2&x=1", "refresh_token=hunter2", "token: hunter2", "token=hunter2;",
            "Authorization: Bearer hunter2", "authorization: hunter2", "Authorization: Token hunter2",
            "Authorization: Basic hunter2==", "PROXY-AUTHORIZATION: Negotiate hunter2", "X-Api-Key: hunter2",
            #""Authorization": "Bearer hunter2""#, "Cookie: hunter2=1", "Cookie: theme=dark; sid=hunter2",
            "Cookie: a=1; b=2; sid=hunter2; c=3", "Set-Cookie: sid=hunter2; Path=/; HttpOnly",
            #"Cookie: a="b c"; sid=hunter2"#, "Cookie: a=1,2&3; sid=hunter2", #"{"password":"{hunter2"}"#,
            "otp=hunter2", "pwd=hunter2", #"{"userPwd":"hunter2"}"#, "pw=hunter2", #"{"userPw":"hunter2"}"#,
            "login_pw: hunter2", "pass: hunter2", #"{"passcode":"hunter2"}"#,
            #"<password type="x">hunter2</password>"#, #"<wsse:Password Type="a:b#c">hunter2</wsse:Password>"#,
            #"<user token="hunter2">Ada</user>"#, #"{"password":["hunter2","[hunter2"],"page":3}"#,
            #"{"password":{"value":"hunter2"}}"#, #"{"secret":[["hunter2"#,
            #"{"bearer":"hunter2"}"#,
            "authorization: hunter2\r\nHost: h", "X-Auth-Token:hunter2", "bearer hunter2", "DPoP hunter2",
            "Basic hunter2==", "Authorization: Bearer hunter2abc, x",
            "<password>hunter2</password>", "<access_token>hunter2</access_token>",
            "https://ada:hunter2@example.com/x", "see postgres://hunter2@db/x",
            // A text in quotes that ends with a name says nothing about the text in quotes after it.
            #"<field label="Password:" value="hunter2"/>"#, #"<input placeholder="Password:" value="hunter2">"#,
            #"<a title="Token:" password="hunter2"/>"#, #"<a href="x?token=" password="hunter2"/>"#,
            #"msg="bad token:" password="hunter2""#, "+ echo 'Access token:' hunter2", #""Password:" hunter2"#,
            #"{"log":"msg=\"bad token:\" password=\"hunter2\""}"#,
            // An attribute that quotes a tag does not end its own.
            #"<password hint="&lt;token&gt;">hunter2</password>"#,
            #"<password hint="a &lt;pin&gt; b">hunter2</password>"#,
            #"<password hint="<token>">hunter2</password>"#,
            // Names of two words.
            #"{"API Key":"hunter2"}"#, #"{"page":3,"Your secret key": "a hunter2"}"#, "Session ID: hunter2",
            #"{"label":"API Key","type":"text","value":"a hunter2"}"#,
            #"{"type":"text","value":"a hunter2","label":"API Key"}"#,
            #"<field name="Session ID" type="text" value="a hunter2"/>"#,
            #"<input value="a hunter2" title="API Key">"#, #"{"title":"Client secret","type":"t","value":"a hunter2"}"#,
            #"{"label":"New password","page":1,"value":"a hunter2"}"#, "Verification code: hunter2",
            #"{"newPin":"hunter2"}"#, "auth_code=hunter2",
            #"{"verification_code":"hunter2"}"#, #"{"encryptionKey":"hunter2"}"#,
            #"{"cvv":"hunter2"}"#, "card_number=hunter2", #"{"securityAnswer":"hunter2"}"#, "sms_code=hunter2",
            "mfa_code=hunter2", #"{"mfa":"hunter2"}"#, "client_assertion=hunter2", "assertion=hunter2",
            "device_code=hunter2", #"{"passkey":"hunter2"}"#, #"{"passwort":"hunter2"}"#,
            "otp_code=hunter2", #"{"pinCode":"hunter2"}"#, #"{"user_pass":"hunter2"}"#, "code_verifier=hunter2",
            // Errors of a FastAPI server repeat the input.
            #"{"detail":[{"type":"x","loc":["body","password"],"msg":"too short","input":"a hunter2","ctx":{"a":8}}]}"#,
            #"{"errors":[{"input":"a hunter2","loc":["body","password"],"msg":"Too short"}]}"#,
            #"{"loc": [ "body", "user", "pin" ], "input": {"a": "hunter2"}}"#, "session token={hunter2}",
            "--b\r\nContent-Disposition: form-data; filename=\"a.txt\"; name=\"password\"\r\n\r\nhunter2\r\n--b--\r\n",
            "'k: \"form-data;name=password\"'\r\n\r\nhunter2", "'{\"h\": \"form-data;name=pin\"}'\n\nhunter2",
            // Objects of Ruby, in angle brackets.
            #"undefined method for #<Client:0x0001 @opts={:password=>"hunter2"}>"#,
            #"<ActionController::Parameters {"password"=>"hunter2"} permitted: false>"#,
            // A text in quotes after `session:`.
            "{ session: 'hunter2' }", #"Login(session: "hunter2")"#, #"{"query":"logout(session:\"hunter2\"){ok}"}"#,
            // Words of names.
            "pass1=hunter2", "DB_PASS=hunter2", #"{"pin1":"hunter2"}"#, "X-Pin: hunter2", "user.pin=hunter2",
            // Lists of lines.
            "- name: \"DB_PASSWORD\"\n  type: x\n  value: hunter2",
            "name = \"DB_PIN\"\ntype = \"x\"\nvalue = \"hunter2\"",
            // Markup in another text.
            "body: \"<wsse:Password Type=\"a:b#c\">hunter2</wsse:Password>\"",
            #""<span class=k>password</span>" => "<span class=s title="7 characters">hunter2</span>""#,
            // A word ends where an element with a secret begins.
            #"<p>token: abc<password type="text">a hunter2</password></p>"#,
            #"<!-- token: --><password type="text">a hunter2</password>"#,
            // JSON in XML may escape its quotation marks in another way.
            #"<o>{&quot;password&quot;:&quot;abc\u0022hunter2&quot;}</o>"#,
            #"<o>{&quot;password&quot;:&quot;\u0022hunter2&quot;}</o>"#,
        ])
    func namedSecrets(text: String) {
        let redacted = Redaction.redact(text)
        #expect(!redacted.contains("hunter2"), "\(redacted)")
        #expect(redacted.contains(Redaction.mask))
    }

    @Test(
        "names within the separator of another name do not trap",
        arguments: ["val</a><!--val=1-->=", "value</b><!--value=y-->=x ", "\"val\"</a><!--\"val\":1-->:"])
    func nestedSeparators(piece: String) {
        for count in [1, 2, 33, 65, 200] {
            for text in ["{" + String(repeating: piece, count: count), String(repeating: piece, count: count)] {
                #expect(!Redaction.redact(text + #""name":"password"}"#).isEmpty)
            }
        }
    }

    private static let marks = ["\"", "'", #"\""#, #"\\\""#, #"\u0022"#, "&quot;", "&amp;quot;", "&#34;", "%22"]

    @Test("a part of a form in up to four kinds of quotes does not trap", arguments: marks)
    func quotedParts(first: String) {
        for second in Self.marks {
            for third in ["", "'", "\"", #"\""#] {
                for fourth in ["", "&quot;"] {
                    let open = [first, "k: " + second, third, fourth].joined()
                    let close = [fourth, third, second, first].joined()
                    for lines in ["\n\n", "\r\n\r\n", #"\n\n"#] {
                        for name in ["form-data;name=pin", "form-data; name='pin'", "name=pin", "value=a&name=pin"] {
                            let text = open + name + close + lines + "a"
                            #expect(Redaction.redact(text).contains("pin"), "\(text)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "an element's content is masked up to its closing tag",
        arguments: [
            ("<Password>abc&amp;hunter3</Password>", "<Password><redacted></Password>"),
            ("<Password>correct horse hunter3</Password><b>1</b>", "<Password><redacted></Password><b>1</b>"),
            ("<Password>\n  abc\n  hunter3\n</Password>", "<Password><redacted></Password>"),
            ("<Password><![CDATA[a</Password>hunter3]]></Password>", "<Password><redacted></Password>"),
            ("<Password><!-- </Password> -->hunter3</Password>", "<Password><redacted></Password>"),
            ("<Password><b>a</b> hunter3</Password>", "<Password><redacted></Password>"),
            ("<Password>a<Password/><Password>b</Password>hunter3</Password>", "<Password><redacted></Password>"),
            (#"<Password a="1>2">abc hunter3</Password>"#, #"<Password a="1><redacted></Password>"#),
            (
                #"<wsse:Password Type="a:b#c" >abc hunter3</wsse:Password >"#,
                #"<wsse:Password Type="a:b#c" ><redacted></wsse:Password >"#
            ),
            (#"<user password="a hunter3" page='3'/>"#, #"<user password="<redacted>" page='3'/>"#),
            (#"<user password = 'a"hunter3' page="3"/>"#, #"<user password = '<redacted>' page="3"/>"#),
            ("&lt;Password&gt;a hunter3&lt;/Password&gt; 3", "&lt;Password&gt;<redacted>&lt;/Password&gt; 3"),
            (
                #"{"xml":"\u003cPassword\u003ea hunter3\u003c/Password\u003e","page":3}"#,
                #"{"xml":"\u003cPassword\u003e<redacted>\u003c/Password\u003e","page":3}"#
            ),
            (#"{"xml":"<Password>a hunter3<\/Password>"}"#, #"{"xml":"<Password><redacted><\/Password>"}"#),
            ("<a><Password>the rest is cut, hunter3", "<a><Password><redacted>"),
            (
                "<key>password</key>\n<string>a hunter3</string><key>page</key><string>3</string>",
                "<key>password</key>\n<string><redacted></string><key>page</key><string>3</string>"
            ),
            (#"<add key="password" value="a hunter3"/>"#, #"<add key="password" value="<redacted>"/>"#),
            ("<b>Password</b>: hunter3 <i>3</i>", "<b>Password</b>: <redacted> <i>3</i>"),
            ("<Password/><page>3</page>", "<Password/><page>3</page>"),
            ("<Password> </Password>", "<Password> </Password>"),
            ("login <user> <password> [--force]", "login <user> <password> [--force]"),
            ("an Array<AccessToken> is no Array<Page>", "an Array<AccessToken> is no Array<Page>"),
        ])
    func elements(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redactBody(Data(text.utf8), contentType: "text/xml") == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "a value in JSON is masked, whatever white space and escapes stand around it",
        arguments: [
            ("{\"password\":\t\"a hunter3\"}", "{\"password\":\t\"<redacted>\"}"),
            (
                "{\n  \"password\"\r\n\t : \n\n\t\"a hunter3\",\n  \"page\": 3\n}",
                "{\n  \"password\"\r\n\t : \n\n\t\"<redacted>\",\n  \"page\": 3\n}"
            ),
            ("{\"password\":\u{A0}\"a hunter3\"}", "{\"password\":\u{A0}\"<redacted>\"}"),
            (#"{"pass\u0077ord":"a hunter3","page":3}"#, #"{"pass\u0077ord":"<redacted>","page":3}"#),
            (#"{"password":"a\"hunter3\\","page":3}"#, #"{"password":"<redacted>","page":3}"#),
            ("{\"password\":\n[\t\"a\",\n\"hunter3\"],\"page\":3}", "{\"password\":\n<redacted>,\"page\":3}"),
            ("{\"pin\":\t4711,\"page\":3}", "{\"pin\":\t<redacted>,\"page\":3}"),
            ("{\"pin\" :\n4711\n}", "{\"pin\" :\n<redacted>\n}"),
            (
                #"{"body":"{\n\t\"password\" :\n\"a\\\"hunter3\",\"page\":3}","page":3}"#,
                #"{"body":"{\n\t\"password\" :\n\"<redacted>\",\"page\":3}","page":3}"#
            ),
            (
                #"{"a":"{\"b\":\"{\\\"password\\\":\\t\\\"a hunter3\\\"}\",\"page\":3}"}"#,
                #"{"a":"{\"b\":\"{\\\"password\\\":\\t\\\"<redacted>\\\"}\",\"page\":3}"}"#
            ),
            (
                #"{"body":"{\u0022password\u0022: \u0022a hunter3\u0022}","page":3}"#,
                #"{"body":"{\u0022password\u0022: \u0022<redacted>\u0022}","page":3}"#
            ),
            (#"{"A\u0050I\u0020Key":"a hunter3"}"#, #"{"A\u0050I\u0020Key":"<redacted>"}"#),
            (#"{"log":"token={hunter\u0033}, page"}"#, #"{"log":"token=<redacted>, page"}"#),
            (#"{"form":"password[\u0061]=hunter3&page=3"}"#, #"{"form":"password[\u0061]=<redacted>&page=3"}"#),
            (
                #"<a data="{&quot;password&quot;: &quot;a\&quot;hunter3&quot;,&quot;page&quot;:3}"/>"#,
                #"<a data="{&quot;password&quot;: &quot;<redacted>&quot;,&quot;page&quot;:3}"/>"#
            ),
            (#"{"name":"password","value":"a hunter3"}"#, #"{"name":"password","value":"<redacted>"}"#),
            (#"{"Password:":"hunter3","page":3}"#, #"{"Password:":"<redacted>","page":3}"#),
            (#"{"password? ":"hunter3","page":3}"#, #"{"password? ":"<redacted>","page":3}"#),
            (#"{"Password (again):" : "hunter3","page":3}"#, #"{"Password (again):" : "<redacted>","page":3}"#),
            (#"{"a":"{\"Password:\":\"hunter3\",\"page\":3}"}"#, #"{"a":"{\"Password:\":\"<redacted>\",\"page\":3}"}"#),
            (#"{"label":"Password:","value":"hunter3"}"#, #"{"label":"Password:","value":"<redacted>"}"#),
            (#"{"log":"password: "hunter3" is wrong"}"#, #"{"log":"password: <redacted>" is wrong"}"#),
            (#"{"token":{"kind":"x","value":"hunter3"}}"#, #"{"token":{"kind":"x","value":"<redacted>"}}"#),
            (#"{"oauth2ProviderRefreshToken":"hunter3"}"#, #"{"<redacted>":"<redacted>"}"#),
            (#"{"url":"/x?password=hunter3\u0026page=3"}"#, #"{"url":"/x?password=<redacted>\u0026page=3"}"#),
            (#"{"url":"https:\/\/ada:hunter3@h\/x"}"#, #"{"url":"https:\/\/<redacted>@h\/x"}"#),
            (#"password => "a hunter3", page => 3"#, #"password => "<redacted>", page => 3"#),
            (#"login(password: Optional("a hunter3"), page: 3)"#, "login(password: <redacted>, page: 3)"),
            ("password='it'\\''s hunter3' 3", "password='<redacted>' 3"),
        ])
    func json(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redactBody(Data(text.utf8), contentType: "application/json") == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "the value of a header field or a form is masked as a whole",
        arguments: [
            ("Password: correct horse hunter3\r\nHost: h", "Password: <redacted>\r\nHost: h"),
            ("Host: h\nX-Api-Key:\ta,b; hunter3\nHost: h", "Host: h\nX-Api-Key:\t<redacted>\nHost: h"),
            ("Password: correct\r\n  hunter3\r\nHost: h", "Password: <redacted>\r\nHost: h"),
            ("  password: correct hunter3\n  page: 3", "  password: <redacted>\n  page: 3"),
            ("password = correct hunter3\npage = 3", "password = <redacted>\npage = 3"),
            ("Authorization: Custom a b hunter3\nHost: h", "Authorization: <redacted>\nHost: h"),
            (
                #"Authorization: Digest username="ada", response="hunter3""# + "\nHost: h",
                "Authorization: Digest <redacted>\nHost: h"
            ),
            ("> Cookie: a=b; c=hunter3\n> Host: h", "> Cookie: <redacted>\n> Host: h"),
            ("< Set-Cookie: sid=hunter3; Path=/\n< Host: h", "< Set-Cookie: <redacted>\n< Host: h"),
            ("X-Session-Id: hunter3\nX-Request-Id: 7f3a", "X-Session-Id: <redacted>\nX-Request-Id: 7f3a"),
            ("-H 'Password: a hunter3' -X GET", "-H 'Password: <redacted>' -X GET"),
            (#"["Password: a \"hunter3","Page: 3"]"#, #"["Password: <redacted>","Page: 3"]"#),
            (#"{"log":"GET /\nPassword: a hunter3\nPage: 3"}"#, #"{"log":"GET /\nPassword: <redacted>\nPage: 3"}"#),
            ("password=a%20b+hunter3&next=1", "password=<redacted>&next=1"),
            ("password=a,hunter3;b&next=1", "password=<redacted>&next=1"),
            ("user[password]=hunter3&next=1", "user[password]=<redacted>&next=1"),
            ("next=%2Fx%3Ftoken%3Dhunter3 3", "next=<redacted> 3"),
            ("Your new password:\nhunter3\nBye", "Your new password:\n<redacted>\nBye"),
            ("Password:\nHost: h", "Password:\nHost: h"),
            (#"C:\token=hunter3 3"#, #"C:\token=<redacted> 3"#),
        ])
    func fields(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "a value is masked, whatever a language or a library writes around it",
        arguments: [
            (#"["password": Optional("a hunter3"), "page": 3]"#, #"["password": <redacted>, "page": 3]"#),
            ("{'password': b'a hunter3', 'page': 3}", "{'password': <redacted>, 'page': 3}"),
            (#"{"password":@"a hunter3","page":3}"#, #"{"password":<redacted>,"page":3}"#),
            (#"{"password":new String("a hunter3"),"page":3}"#, #"{"password":<redacted>,"page":3}"#),
            (
                #"[AnyHashable("password"): "a hunter3", "page": 3]"#,
                #"[AnyHashable("password"): "<redacted>", "page": 3]"#
            ),
            (#"let password: String = "a hunter3""#, "let password: <redacted>"),
            ("[\"password\"]=>\n  string(9) \"a hunter3\"\n}", "[\"password\"]=>\n  <redacted>\n}"),
            ("{\n  \"secret\" =     (\n    hunter3\n  );\n}", "{\n  \"secret\" =     <redacted>;\n}"),
            (#"{"vault/password":"a hunter3","page":3}"#, #"{"vault/password":"<redacted>","page":3}"#),
            ("password[]=hunter3&page=3", "password[]=<redacted>&page=3"),
            ("password[0]=hunter3&page=3", "password[0]=<redacted>&page=3"),
            ("user[password][]=hunter3&page=3", "user[password][]=<redacted>&page=3"),
            ("user[password][first]=hunter3&page=3", "user[password][first]=<redacted>&page=3"),
            ("password[a][b]=hunter3&page=3", "password[a][b]=<redacted>&page=3"),
            ("x[password][\"a\"][b]=hunter3&page=3", "x[password][\"a\"][b]=<redacted>&page=3"),
            ("password[value][values]=hunter3&page=3", "password[value][values]=<redacted>&page=3"),
            ("token:{a[b][c]=hunter3}, page=3", "token:{a[b][c]=<redacted>}, page=3"),
            ("token:{a[b][type]=hunter3}, page=3", "token:{a[b][type]=<redacted>}, page=3"),
            ("token:{\"a\"[\"b\"]:\"hunter3\"}, page=3", "token:{\"a\"[\"b\"]:\"<redacted>\"}, page=3"),
            ("pin%5B%5D=hunter3&page=3", "pin%5B%5D=<redacted>&page=3"),
            ("Location: //ada:hunter3@h/x", "Location: //<redacted>@h/x"),
            (#"{"url":"\/\/ada:hunter3@h\/x"}"#, #"{"url":"\/\/<redacted>@h\/x"}"#),
            ("X-Signature: hunter3\nHost: h", "X-Signature: <redacted>\nHost: h"),
            ("X-Session: hunter3\nHost: h", "X-Session: <redacted>\nHost: h"),
            (
                #"{"X-Auth-User":"hunter3","Foo-Key":"hunter3","session":"hunter3","page":3}"#,
                #"{"X-Auth-User":"<redacted>","Foo-Key":"<redacted>","session":"<redacted>","page":3}"#
            ),
        ])
    func notations(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "a value is masked because of the object, the tag or the element around it",
        arguments: [
            (
                #"{"token":{"access":"hunter3","expires_in":3600,"kind":"x"},"page":"3"}"#,
                #"{"token":{"access":"<redacted>","expires_in":3600,"kind":"x"},"page":"3"}"#
            ),
            (
                #"{"session":{"id":"hunter3","user":"Ada"},"id":"3"}"#,
                #"{"session":{"id":"<redacted>","user":"Ada"},"id":"3"}"#
            ),
            (#"{"tokens":{"a":"hunter3"},"page":"3"}"#, #"{"tokens":{"a":"<redacted>"},"page":"3"}"#),
            (#"{"tokens":[{"a":"hunter3"}],"page":"3"}"#, #"{"tokens":[{"a":"<redacted>"}],"page":"3"}"#),
            (#"{"refreshTokens":["hunter3"],"page":3}"#, #"{"refreshTokens":<redacted>,"page":3}"#),
            (#"{"secrets":{"db":"hunter3"},"page":3}"#, #"{"secrets":<redacted>,"page":3}"#),
            (
                #"{"name":"password","type":"x","value":"hunter3"},{"name":"page","value":"3"}"#,
                #"{"name":"password","type":"x","value":"<redacted>"},{"name":"page","value":"3"}"#
            ),
            (
                #"{"value":"hunter3","x":{"a":[1]},"name":"password"},{"value":"3"}"#,
                #"{"value":"<redacted>","x":{"a":[1]},"name":"password"},{"value":"3"}"#
            ),
            (
                #"{"key":"password","oldValue":"hunter3","newValue":"hunter3"}"#,
                #"{"key":"password","oldValue":"<redacted>","newValue":"<redacted>"}"#
            ),
            (
                #"{"a":"{\"name\":\"pin\",\"x\":1,\"value\":\"a hunter3\"}","value":"3"}"#,
                #"{"a":"{\"name\":\"pin\",\"x\":1,\"value\":\"<redacted>\"}","value":"3"}"#
            ),
            (
                #"{"name":"password","html":"<b>x</b>","value":"hunter3"}"#,
                #"{"name":"password","html":"<b>x</b>","value":"<redacted>"}"#
            ),
            (
                #"{"name":"password","x":{"name":"pin","value":"hunter3"},"value":"hunter3"}"#,
                #"{"name":"password","x":{"name":"pin","value":"<redacted>"},"value":"<redacted>"}"#
            ),
            (
                "- name: DB_PASSWORD\n  value: hunter3\n- name: page\n  value: 3",
                "- name: DB_PASSWORD\n  value: <redacted>\n- name: page\n  value: 3"
            ),
            (
                #"<input name="password" id="x" value="hunter3"><b value="3">"#,
                #"<input name="password" id="x" value="<redacted>"><b value="3">"#
            ),
            (#"<input value="hunter3" name="password">"#, #"<input value="<redacted>" name="password">"#),
            (#"<meta name="csrf-token" content="hunter3">"#, #"<meta name="csrf-token" content="<redacted>">"#),
            (#"<password value="a hunter3"/><page value="3"/>"#, #"<password value="<redacted>"/><page value="3"/>"#),
            (#"<entry key="password">hunter3</entry><b>3</b>"#, #"<entry key="password"><redacted></entry><b>3</b>"#),
            (#"<param name="password">hunter3</param>"#, #"<param name="password"><redacted></param>"#),
            (
                "<p><name>password</name><a>x</a><value>hunter3</value></p><p><value>3</value></p>",
                "<p><name>password</name><a>x</a><value><redacted></value></p><p><value>3</value></p>"
            ),
            (#"{"name":"password ","value":"hunter3"}"#, #"{"name":"password ","value":"<redacted>"}"#),
            (
                #"{"name":"\t password\n","type":"x","value":"hunter3"}"#,
                #"{"name":"\t password\n","type":"x","value":"<redacted>"}"#
            ),
            (#"<param name=" password ">hunter3</param>"#, #"<param name=" password "><redacted></param>"#),
            ("<value>hunter3</value><name> password </name>", "<value><redacted></value><name> password </name>"),
            (
                "<value>\nhunter3\n</value>\n<name>\n\tpassword\n</name>",
                "<value><redacted></value>\n<name>\n\tpassword\n</name>"
            ),
            (
                "<name> password </name><type>x</type><value>hunter3</value>",
                "<name> password </name><type>x</type><value><redacted></value>"
            ),
            (
                #"{"x":"<name>\n password\n</name><type>x</type><value>hunter3</value>"}"#,
                #"{"x":"<name>\n password\n</name><type>x</type><value><redacted></value>"}"#
            ),
            (
                #"<input type=password value="hunter3"><b value="3">"#,
                #"<input type=password value="<redacted>"><b value="3">"#
            ),
            ("<entry key = password >hunter3</entry><b>3</b>", "<entry key = password ><redacted></entry><b>3</b>"),
            ("name:  password \ntype: x\nvalue: hunter3\n", "name:  password \ntype: x\nvalue: <redacted>\n"),
            (
                #"{"x":"<entry\u0020ke\u0079=\"pin\">a hunter3</entry>","page":3}"#,
                #"{"x":"<entry\u0020ke\u0079=\"pin\"><redacted></entry>","page":3}"#
            ),
            (#"<entry k&#101;y="pin">a hunter3</entry><b>3</b>"#, #"<entry k&#101;y="pin"><redacted></entry><b>3</b>"#),
            (
                #"{"l\u006fc":["body","password"],"msg":"x","input":"a hunter3"}"#,
                #"{"l\u006fc":["body","password"],"msg":"x","input":"<redacted>"}"#
            ),
            (
                #"{"label":"N\u0065w\u0020password","page":1,"value":"a hunter3"}"#,
                #"{"label":"N\u0065w\u0020password","page":1,"value":"<redacted>"}"#
            ),
            (
                #"<o>{&quot;x&quot;:&quot;&lt;entry key=\&quot;pin\&quot;\u003ea hunter3&lt;/entry&gt;&quot;}</o>"#,
                #"<o>{&quot;x&quot;:&quot;&lt;entry key=\&quot;pin\&quot;\u003e<redacted>&lt;/entry&gt;&quot;}</o>"#
            ),
            (
                "<x>&lt;name&gt;pin&lt;/name&gt;&lt;type&gt;x&lt;/type&gt;&lt;value&gt;a hunter3&lt;/value&gt;</x>",
                "<x>&lt;name&gt;pin&lt;/name&gt;&lt;type&gt;x&lt;/type&gt;&lt;value&gt;<redacted>&lt;/value&gt;</x>"
            ),
            ("x<Password>hunter3", "x<Password><redacted>"),
            ("<Password>.hunter3", "<Password><redacted>"),
            (#"<Password>"hunter3""#, "<Password><redacted>"),
        ])
    func surroundingNames(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "a value is masked because of a name that follows it",
        arguments: [
            (
                #"{"oldValue":"hunter3","newValue":"hunter3","field":"password"}"#,
                #"{"oldValue":"<redacted>","newValue":"<redacted>","field":"password"}"#
            ),
            (
                #"{"value":"hunter3","defaultValue":"","name":"password"}"#,
                #"{"value":"<redacted>","defaultValue":"","name":"password"}"#
            ),
            (
                #"{"value":"hunter3","options":[{"value":"a"}],"name":"password"},{"value":"3"}"#,
                #"{"value":"<redacted>","options":[{"value":"a"}],"name":"password"},{"value":"3"}"#
            ),
            (#"{"value":4711,"name":"pin"}"#, #"{"value":<redacted>,"name":"pin"}"#),
            ("{\n  \"value\": 4711,\n  \"name\": \"pin\"\n}", "{\n  \"value\": <redacted>,\n  \"name\": \"pin\"\n}"),
            (#"{"value":["hunter3"],"name":"password"}"#, #"{"value":<redacted>,"name":"password"}"#),
            (#"{"value":{"a":"hunter3"},"name":"password"}"#, #"{"value":<redacted>,"name":"password"}"#),
            (
                #"{"a":"{\"value\":[\"hunter3\"],\"x\":1,\"name\":\"pin\"}","value":"3"}"#,
                #"{"a":"{\"value\":<redacted>,\"x\":1,\"name\":\"pin\"}","value":"3"}"#
            ),
            ("{value: 4711, name: pin}", "{value: <redacted>, name: pin}"),
            (#"a value=hunter3 "name":"password""#, #"a value=<redacted> "name":"password""#),
            (
                #""value":"hunter3","value":4711,"name":"password""#,
                #""value":"<redacted>","value":<redacted>,"name":"password""#
            ),
            ("\"name: password\n\" value=hunter3 4", "\"name: password\n\" value=<redacted> 4"),
            ("value=hunter3&name=password&page=3", "value=<redacted>&name=password&page=3"),
            ("- value: hunter3\n  name: DB_PASSWORD", "- value: <redacted>\n  name: DB_PASSWORD"),
            (
                "- value: a hunter3\n  type: x\n  name: password\n  page: 3",
                "- value: <redacted>\n  type: x\n  name: password\n  page: 3"
            ),
            ("value: |\n  a\n  hunter3\nname: password\n", "value: <redacted>\nname: password\n"),
            ("- value: 3\n  name: page\n- name: password\n", "- value: 3\n  name: page\n- name: password\n"),
            ("value: 3\nvalue: hunter3\nname: password\n", "value: 3\nvalue: <redacted>\nname: password\n"),
            ("<input value=hunter3 name=password>", "<input value=<redacted> name=password>"),
            (
                "<oldValue>hunter3</oldValue><newValue>hunter3</newValue><name>password</name>",
                "<oldValue><redacted></oldValue><newValue><redacted></newValue><name>password</name>"
            ),
            (
                "<value>hunter3</value><list><value>3</value></list><name>password</name>",
                "<value><redacted></value><list><value>3</value></list><name>password</name>"
            ),
            (
                #"{"value":"a hunter3\u003cpw","page":1,"name":"password"}"#,
                #"{"value":"<redacted>","page":1,"name":"password"}"#
            ),
            (
                #"{"a":"{\"value\":\"a hunter3\",\"name\":\u0020\"pin\"}"}"#,
                #"{"a":"{\"value\":\"<redacted>\",\"name\":\u0020\"pin\"}"}"#
            ),
            (#"{"form":"value=hunter3&name=password"}"#, #"{"form":"value=<redacted>&name=password"}"#),
            (#"{"x":"- value: hunter3\n  name: password"}"#, #"{"x":"- value: <redacted>\n  name: password"}"#),
            (
                #"<a data="{&quot;value&quot;:&quot;a\u003ehunter3&quot;,&quot;name&quot;:&quot;pin&quot;}"/>"#,
                #"<a data="{&quot;value&quot;:&quot;<redacted>&quot;,&quot;name&quot;:&quot;pin&quot;}"/>"#
            ),
            (
                #"<a data="{&quot;value&quot;:&quot;&lt;b&gt;hunter3&quot;,&quot;name&quot;:&quot;pin&quot;}"/>"#,
                #"<a data="{&quot;value&quot;:&quot;<redacted>&quot;,&quot;name&quot;:&quot;pin&quot;}"/>"#
            ),
            (
                #"{"x":"\u003cvalue\u003ea hunter3\u003c/value\u003e\u003cname\u003epin\u003c/name\u003e"}"#,
                #"{"x":"\u003cvalue\u003e<redacted>\u003c/value\u003e\u003cname\u003epin\u003c/name\u003e"}"#
            ),
            (#"{"value":"hunter3<pin>a","name":"password"}"#, #"{"value":"<redacted>"#),
            // A name of a value that contains another one.
            (
                #"{"value":"hunter3","value=x value":1,"name":"password"}"#,
                #"{"value":"<redacted>","value=x value":<redacted>,"name":"password"}"#
            ),
            (#"{"value":42,"name":"max_tokens"}"#, #"{"value":42,"name":"max_tokens"}"#),
            (#"{"value":true,"name":"password"}"#, #"{"value":true,"name":"password"}"#),
            ("The value: is it x? The key: password, maybe", "The value: is it x? The key: password, maybe"),
        ])
    func laterNames(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test(
        "a value in a list is masked because of the name before it",
        arguments: [
            (
                #"{"rawHeaders":["Host","h","X-Api-Key","hunter3","Cookie","hunter3"],"page":["a"]}"#,
                #"{"rawHeaders":["Host","h","X-Api-Key","<redacted>","Cookie","<redacted>"],"page":["a"]}"#
            ),
            (
                #"{"a":"{\"rawHeaders\":[\"Vary\",\"Authorization\",\n\"Cookie\",\n\"hunter3\",\"a\",\"b\"]}"}"#,
                #"{"a":"{\"rawHeaders\":[\"Vary\",\"Authorization\",\n\"Cookie\",\n\"<redacted>\",\"a\",\"b\"]}"}"#
            ),
            // A quotation mark before the list that does not end on its line.
            (
                "5\" rawHeaders: [\n \"X-Api-Key\",\n \"hunter3\"\n]",
                "5\" rawHeaders: [\n \"X-Api-Key\",\n \"<redacted>\"\n]"
            ),
            ("[('Accept', 'a'), ('X-Api-Key', 'hunter3')]", "[('Accept', 'a'), ('X-Api-Key', '<redacted>')]"),
            (#"[["page","3"],["password","hunter3"]]"#, #"[["page","3"],["password","<redacted>"]]"#),
            (#"addHeader("X-Api-Key", "hunter3")"#, #"addHeader("X-Api-Key", "<redacted>")"#),
            (#"{"required":["password","email"]}"#, #"{"required":["password","email"]}"#),
            (#"allow(["Authorization","Accept"])"#, #"allow(["Authorization","Accept"])"#),
            (#"UNIQUE ("password", "email")"#, #"UNIQUE ("password", "email")"#),
        ])
    func lists(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
        #expect(Redaction.redact(redacted) == redacted)
    }

    @Test("the first values of an object are masked if too many wait for its name")
    func manyValues() {
        let members = (0..<80).map { #""a\#($0)Value":"hunter3 \#($0)""# }.joined(separator: ",")
        #expect(!Redaction.redact("{\(members),\"name\":\"password\"}").contains("hunter3"))
        let lists = String(repeating: #"{"value":[1,"#, count: 80) + #"{"value":["hunter3"],"name":"password"}"#
        #expect(!Redaction.redact(lists).contains("hunter3"))
        let lines = (0..<80).map { "a\($0)value: 3\n" }.joined()
        #expect(Redaction.redact(lines) == lines)
    }

    @Test("a quoted text that does not end on its line is masked with what has been read")
    func unclosedFieldText() {
        #expect(Redaction.redact("password: 'x\ny hunter3\nz'=hunter3\npage: 3") == "password: <redacted>\npage: 3")
    }

    @Test(
        "a name at the end of a path has a value, too",
        arguments: [
            ("GET https://h/verify/token=hunter3 failed", "GET https://h/verify/token=<redacted> failed"),
            ("GET /verify/%74oken=hunter3 failed", "GET /verify/%74oken=<redacted> failed"),
            ("<https://h/verify/token=hunter3>; rel=next", "<https://h/verify/token=<redacted>>; rel=next"),
            ("0; url=https://h/verify/token=hunter3", "0; url=https://h/verify/token=<redacted>"),
            ("POST https://h/auth/token: 401", "POST https://h/auth/token: 401"),
            ("GET https://h/users/7/pin 401", "GET https://h/users/7/pin 401"),
        ])
    func names(text: String, redacted: String) {
        #expect(Redaction.redactReason(text) == redacted)
        #expect(Redaction.redactFieldValue(text) == redacted)
    }

    @Test("the user of a URL without a scheme is masked")
    func authorities() {
        #expect(Redaction.redactURL("//ada:hunter3@h/x?a=b") == "//<redacted>@h/x?a=b")
        #expect(Redaction.redactFieldValue("//ada:hunter3@h/x") == "//<redacted>@h/x")
        #expect(Redaction.redactURL("//h/x@y") == "//h/x@y")
    }

    @Test(
        "a fragment is masked like a form or a path",
        arguments: [
            (
                "https://app.example.com/cb#access_token=ab/hunter3&state=x",
                "https://app.example.com/cb#access_token=<redacted>&state=x"
            ),
            ("https://h/a?b=c#top", "https://h/a?b=c#top"), ("https://h/#/articles/7", "https://h/#/articles/7"),
            ("https://h/#/cb?token=hunter3", "https://h/#/cb?token=<redacted>"),
        ])
    func fragments(url: String, redacted: String) {
        #expect(Redaction.redactURL(url) == redacted)
    }

    @Test(
        "JSON and XML are masked even if they have the type of a form",
        arguments: [#"{"password":"abc&hunter3"}"#, " <Password>abc&amp;hunter3</Password>"])
    func mistypedForm(text: String) {
        let type = "application/x-www-form-urlencoded"
        #expect(Redaction.redactBody(Data(text.utf8), contentType: type)?.contains("hunter3") == false)
    }

    @Test("a JWT with white space after its brace is masked") func formattedJWT() {
        for token in ["eyAiYWxnIjogIkhTMjU2IiB9.e30.aa", "ewogICJhbGciOiAibm9uZSIKfQ.e30.aa"] {
            #expect(Redaction.redactFieldValue(token) == "<redacted>")
        }
        #expect(Redaction.redact("eyAnd.Another") == "eyAnd.Another")
    }

    @Test("a form's values are masked with their blanks and pluses")
    func forms() {
        let form = "password=a%20b+c&next=1&user%5Bpassword%5D=d&sid=e"
        #expect(
            Redaction.redactForm(form[...]) == "password=<redacted>&next=1&user%5Bpassword%5D=<redacted>&sid=<redacted>"
        )
        let names = "pin%5B%5D=a&user%5Bpin%5D%5Ba%5D=b&vault%2Fsecret=c&refresh_tokens=d&max_tokens=5"
        #expect(
            Redaction.redactForm(names[...])
                == "pin%5B%5D=<redacted>&user%5Bpin%5D%5Ba%5D=<redacted>&vault%2Fsecret=<redacted>"
                + "&refresh_tokens=<redacted>&max_tokens=5")
    }

    @Test(
        "a form's values are masked because of a name in another item, or of one that is encoded twice",
        arguments: [
            ("name=password&value=hunter3&page=3", "name=password&value=<redacted>&page=3"),
            ("value=hunter3&key=%20pass%77ord+", "value=<redacted>&key=%20pass%77ord+"),
            ("a[0][name]=password&a%5B0%5D%5Bvalue%5D=hunter3", "a[0][name]=password&a%5B0%5D%5Bvalue%5D=<redacted>"),
            ("%2570assword=hunter3&page=3", "%2570assword=<redacted>&page=3"),
            ("name=Ada&value=3", "name=Ada&value=3"), ("name=password&value=", "name=password&value="),
            ("name=a+wrong+password&value=3", "name=a+wrong+password&value=3"), ("a&b=&=c&&value", "a&b=&=c&&value"),
        ])
    func items(form: String, redacted: String) {
        #expect(Redaction.redactForm(form[...]) == redacted)
        #expect(Redaction.redactTarget("/x?" + form) == "/x?" + redacted)
    }

    @Test(
        "the rest of the text is kept",
        arguments: [
            (
                #"{"token_type":"Bearer","access_token":"abc","expires_in":3600}"#,
                #"{"token_type":"Bearer","access_token":"<redacted>","expires_in":3600}"#
            ),
            (#"{"password":"a","name":"Ada"}"#, #"{"password":"<redacted>","name":"Ada"}"#),
            ("Authorization: Bearer abc\r\nHost: h", "Authorization: Bearer <redacted>\r\nHost: h"),
            ("authorization: abc\r\nHost: h", "authorization: <redacted>\r\nHost: h"),
            ("user=ada&password=x&page=2", "user=ada&password=<redacted>&page=2"),
            ("https://ada:pw@example.com/a?b=c", "https://<redacted>@example.com/a?b=c"),
            ("<name>Ada</name><password>x</password>", "<name>Ada</name><password><redacted></password>"),
            ("Cookie: a=1; b=2\nHost: h", "Cookie: <redacted>\nHost: h"),
            ("-H 'Cookie: a=1; b=2' -X GET", "-H 'Cookie: <redacted>' -X GET"),
            (#"{"token":{"kind":"x"},"tokens":["y"]}"#, #"{"token":{"kind":"x"},"tokens":["y"]}"#),
            (#"{"password":["a]","b"],"page":3}"#, #"{"password":<redacted>,"page":3}"#),
            (#"<p:pin a="b">1</p:pin><p:page>2</p:page>"#, #"<p:pin a="b"><redacted></p:pin><p:page>2</p:page>"#),
        ])
    func surroundings(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
    }

    @Test(
        "ordinary texts stay readable",
        arguments: [
            "The password is wrong.", "Not found: /articles/2024/swift-on-linux/comments", "It took 12.5 seconds.",
            "A basic account has no bearer of bad news.", "Basic usage: see the manual.", "Your token has expired.",
            #"Bearer realm="api", error="invalid_token""#, #"{"token":null,"password":true}"#, #"{"password":""}"#,
            "POST /auth/token: 401 Unauthorized", "GET https://api.example.com/v1/articles?page=2#top",
            #"{"code":"validation_failed","fields":["name","email"]}"#, "internationalization-and-localization",
            "Grüße aus Köln, 你好, 👩‍🚀!", "", " ", ":=\"'\\", "://", "https://example.com/@ada", "mail ada@example.com",
            "secret", "password:", "token=", "Bearer", "Bearer ", "the bearer token is missing",
            "ConnectionPoolTimeoutErrorDescription",
            "the background session: com.example.app is gone", #"{"total_tokens":42,"tokens":3,"secrets":2}"#,
            "X-RateLimit-Remaining-Tokens: 149984", #"{"usage":"login <user> <password>","page":3}"#,
            "the <password>'s length", "an Optional<Token>.none",
            #"{"fields":["password"],"value":"3"}"#, #"{"loc":["password","page"],"input":"3"}"#,
            #"[{"loc":["password"],"msg":"x"},{"loc":["page"],"input":"3"}]"#, "{\"input\":\"3\"}", "a secret key",
            #"{"field":"password","message":"is too short"}"#,
            #"The "password" field, value: 3"#, #"<input name="password"><b>3</b>"#, "// see ada@example.com",
            "<p>a wrong password</p><b>1</b><value>3</value>", "<p> a wrong password </p><b>1</b><value>3</value>",
            "<p> password <b>1</b><value>3</value></p>", "<p>password <b>1</b><value>3</value></p>",
            #"{"label":"Password:","page":"3"}"#, #"{"Forgot your password? Click":"Reset"}"#,
            #"{"name":" a wrong password ","page":1,"value":"3"}"#,
            "Access-Control-Allow-Credentials: true", "invalid_credentials: Invalid login credentials",
            "jwt: token is expired", #"{"message":"Enter the\nAPI Key"}"#, #"{"message":"a\u000ASession ID."}"#,
            #"{"text":"New password","page":1,"content":"Changed on Monday."}"#, #"{"boardingPass":"3","mapPin":"3"}"#,
            #"{"message":"Wrong password","page":1,"value":"3"}"#, #"{"mapping":"3","bypass":"3"}"#, "Pinned: 3",
            #"{"token":{"scope":"a: b","expiresAt":"c"},"page":"3"}"#,
        ])
    func ordinaryTexts(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test(
        "the reason of a failure shows the name of a file",
        arguments: [
            "IMG_20261130_112233.jpg", "PXL_20261130_112233445.JPG", "Screenshot_2026-11-30.png",
            "holiday-photo-2026-summer-1.png",
        ])
    func fileName(_ name: String) {
        let reason = "There is nothing at \"/home/ada/\(name)\". Check the path."
        #expect(Redaction.redactReason(reason) == reason)
    }

    @Test(
        "a token is masked even if it has the extension of a file",
        arguments: ["a1B2c3D4e5F6g7H8i9J0k1.json", "Zm9vYmFyYmF6cXV4MTIzNDU2.txt", "KRUGKIDROVUWG2ZAMJ2.jpg"])
    func tokenWithExtension(_ token: String) {
        #expect(!Redaction.redactReason("There is nothing at \"/home/ada/\(token)\".").contains(token))
    }

    @Test(
        "markup around a name, before its value and in the value does not hide a secret",
        arguments: [
            "<b>Password:</b> hunter2", "<label>Password:</label> <b>hunter2</b>", "<dt>Password:</dt><dd>hunter2</dd>",
            "<td>password</td>\n<td class=\"x\">hunter2</td>", "<key>password</key><!-- c --><string>hunter2</string>",
            "<key>password</key><array><string>hunter2</string></array>",
            "<key>password</key><dict><key>a</key><string>hunter2</string></dict>",
            "<key>pin</key><integer>hunter2</integer>",
            "<member><name><![CDATA[password]]></name><value>hunter2</value></member>",
            "<member><value>hunter2</value><name>password</name></member>",
            "<member><value><string>hunter2</string></value><name>password</name></member>",
            #"<field id="password">hunter2</field>"#, "%2570assword=hunter2",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--b--\r\n",
            "--b\nContent-Disposition: form-data; name=\"password\"\nX-A: b\n\nhunter2\nhunter2",
            "--b\r\nContent-Disposition: form-data; name=password\r\n\r\nhunter2\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data;name=pin; filename=a\r\nX-A: b\r\n\r\nhunter2\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; filename=a.txt; name=password\r\n\r\nhunter2\r\n--b--\r\n",
            #"{"log":"--b\r\nContent-Disposition: form-data; n\u0061me=password\r\n\r\nhunter2\r\n--b--"}"#,
            "-data; name=\"password\"\r\n\r\nhunter2\r\n--b--\r\n", "; name=password\r\n\r\nhunter2\r\n--b--\r\n",
            "<td>password</td><td class=\"\(String(repeating: "wide ", count: 40))\">hunter2</td>",
            "<value>hunter2</value><type>x</type><name>password</name>",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\nContent-Transfer-Encoding: binary\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 7\r\n\r\n\r\n--hunter2\r\n--b--\r\n",
        ])
    func markup(text: String) {
        let redacted = Redaction.redact(text)
        #expect(!redacted.contains("hunter2"), "\(redacted)")
        #expect(redacted.contains(Redaction.mask))
    }

    @Test(
        "an element that never ends does not hide the rest of a page",
        arguments: [
            "<label>Password:</label> <input type=\"text\"><p>Ada</p><p>Bob</p>",
            "<b>Password:</b><br><p>Ada</p><p>Bob</p>",
            "<th>Password:</th></tr></thead><tbody><tr><td>Ada</td></tr><tr><td>Bob</td></tr></tbody>",
        ])
    func restOfPage(text: String) {
        #expect(Redaction.redact(text).contains("Bob"), "\(Redaction.redact(text))")
    }

    @Test(
        "markup keeps what is no secret",
        arguments: [
            "<td>name</td><td>Ada</td>", "<member><value>Ada</value><name>user</name></member>",
            #"<div id="password">Choose a password</div>"#, #"<label>password</label><input name="q"><p>7</p>"#,
            "<value>Ada</value></member><name>password</name>",
            "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nAda\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=user\r\n\r\nAda\r\n--b--\r\n",
            "name = \"password\"\n\n[page]\nnumber = 3", "x; name=password; page=3\nAda\n",
            "a\nb; name=password\n\nAda",
            "<x>&lt;name&gt;user&lt;/name&gt;&lt;value&gt;Ada&lt;/value&gt;</x>",
            #"<a title="&lt;b name=&quot;password&quot;&gt;" data="3"><b value="3">"#,
        ])
    func harmlessMarkup(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test(
        "redaction is idempotent",
        arguments: [
            "password=x", "Authorization: Bearer abc", "a \(jwt) b", "pin=a \"b\"c d", "pin=a 'b':", "pin=a \"\"\\",
        ])
    func twice(text: String) {
        let once = Redaction.redact(text)
        #expect(Redaction.redact(once) == once)
    }

    @Test(
        "sensitive header fields are known",
        arguments: [
            ("Authorization", true), ("cookie", true), ("Set-Cookie", true), ("X-CSRF-Token", true),
            ("X-Api-Key", true), ("X-Auth-User", true), ("X-Client-Secret", true), ("X-Signature", true),
            ("X-Password", true), ("Proxy-Authorization", true), ("Content-Type", false), ("Accept", false),
            ("X-Session-Id", true), ("session_id", true), ("sessionid", true), ("JSESSIONID", true), ("sid", true),
            ("X-SID", true), ("connect.sid", true), ("Session", true), ("X-Session", true), ("X-Session-Data", true),
            ("Mcp-Session-Id", true), ("X-CSRF", true), ("X-XSRF-Header", true), ("X-CSRFToken", true),
            ("ETag", false), ("WWW-Authenticate", false), ("X-Request-ID", false), ("Retry-After", false),
            ("X-Correlation-Id", false), ("X-Trace-Id", false), ("Session-Count", false), ("X-Session-Count", false),
            ("X-Session-Timeout", false), ("Session-Expires", false), ("X-Side", false), ("Idempotent", false),
            ("X-RateLimit-Remaining-Tokens", false),
        ])
    func headers(name: String, isSensitive: Bool) {
        #expect(Redaction.isSensitive(headerName: name) == isSensitive)
    }

    @Test("the excerpt of a body is one line of its start")
    func excerpts() {
        #expect(Redaction.excerpt(of: Data()) == "")
        #expect(Redaction.excerpt(of: Data("a\r\n  b\n{\"token\": \"x\"}".utf8)) == "a b {\"token\": \"<redacted>\"}")
        #expect(Redaction.excerpt(of: Data(String(repeating: "ab ", count: 1000).utf8), limit: 6) == "ab ab …")
        #expect(Redaction.excerpt(of: Data([0xFF, 0xFE, 0x00])) == "3 bytes that are not text")
    }

    @Test("a token cut by the excerpt's limit is masked")
    func excerptThatCutsAToken() {
        let body = Data((String(repeating: "word ", count: 58) + String(repeating: opaque, count: 200)).utf8)
        let excerpt = Redaction.excerpt(of: body)
        #expect(!excerpt.contains(opaque.prefix(10)))
    }

    @Test("a character cut by the excerpt's limit is dropped")
    func excerptThatCutsACharacter() {
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "👩🏽 ", count: 3000)
            #expect(Redaction.excerpt(of: Data(text.utf8), limit: 5).hasSuffix("…"))
        }
    }

    @Test("texts of any shape are handled, and masking twice changes nothing more")
    func fuzz() {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "password", "Bearer", "Cookie", "Authorization", ":", "=", "\"", "'", "\\", " ", ";", "; ", "://", "@",
            "<", ">", "{", "\r\n", "\u{301}", "token", "eyJ", "x1", jwt,
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let redacted = Redaction.redact(text)
            #expect(!redacted.contains(jwt), "\(text)")
            #expect(Redaction.redact(redacted) == redacted, "\(text)")
        }
    }
}

private let jwt =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
private let opaque = "k3Jd9fKq27LmZx81Vb0T"
private let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
