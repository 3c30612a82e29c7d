@rem The command line of License Desk; "license-desk serve" is the server.
@"%~dp0node.exe" "%~dp0out\main\cli.js" %*
