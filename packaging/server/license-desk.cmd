@rem The command line of License Desk; "license-desk serve" is the server.
@"%~dp0node.exe" --disable-sigusr1 "%~dp0out\main\cli.js" %*
