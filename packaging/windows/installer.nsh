; Included by electron-builder's NSIS script. Its own check ends every process below $INSTDIR at once, the license
; server too. Here the apps quit first, which stops their servers cleanly.

Var pid
!include "getProcessInfo.nsh"

!define FIREWALL_RULE "License Desk"
; Electron names the entry after the app's ID.
!define START_AT_LOGIN "app.licensedesk.desktop"
!define REQUEST_CLASS "License Desk.Activation Request"

!macro customCheckAppRunning
  !insertmacro IS_POWERSHELL_AVAILABLE
  ${if} ${FileExists} "$INSTDIR\${APP_EXECUTABLE_FILENAME}"
    !insertmacro FIND_PROCESS "${APP_EXECUTABLE_FILENAME}" $R0
    ${if} $R0 == 0
      DetailPrint "$(appClosing)"
      ; Reaches the apps on all data directories of this user.
      nsExec::Exec '"$INSTDIR\${APP_EXECUTABLE_FILENAME}" --quit'
      Pop $R1
      StrCpy $R1 0
      ${Do}
        Sleep 500
        IntOp $R1 $R1 + 1
        !insertmacro FIND_PROCESS "${APP_EXECUTABLE_FILENAME}" $R0
        ${if} $R0 != 0
          ${ExitDo}
        ${endIf}
      ${LoopUntil} $R1 >= 20
    ${endIf}
  ${endIf}
  ; Ends what is left after 10 seconds, and asks before that unless it is an update.
  !insertmacro _CHECK_APP_RUNNING
!macroend

; Only an administrator may change the firewall. Without a rule Windows asks when the server first listens on the network.
!macro removeFirewallRule
  nsExec::Exec 'netsh advfirewall firewall delete rule name="${FIREWALL_RULE}"'
  Pop $R0
!macroend

!macro customInstall
  ${if} $installMode == "all"
    !insertmacro removeFirewallRule
    nsExec::Exec 'netsh advfirewall firewall add rule name="${FIREWALL_RULE}" dir=in action=allow protocol=TCP profile=domain,private program="$INSTDIR\${APP_EXECUTABLE_FILENAME}"'
    Pop $R0
  ${endIf}
  ; Certificate requests have this extension, too. What has it already keeps it, unless the user says otherwise.
  ReadRegStr $R0 HKCR ".req" ""
  ${if} $R0 != ""
  ${andIf} $R0 != "${REQUEST_CLASS}"
    ${if} ${Cmd} `MessageBox MB_YESNO|MB_ICONQUESTION "Another program opens .req files. Open them with License Desk?" /SD IDNO IDYES`
      StrCpy $R0 ""
    ${endIf}
  ${else}
    StrCpy $R0 ""
  ${endIf}
  ${if} $R0 == ""
    !insertmacro associateRequests
  ${endIf}
!macroend

!macro associateRequests
  !insertmacro APP_ASSOCIATE "req" "${REQUEST_CLASS}" "License Desk activation request" "$INSTDIR\resources\activation-request.ico" "Open with License Desk" '"$INSTDIR\${APP_EXECUTABLE_FILENAME}" "%1"'
!macroend

!macro customUnInstall
  ; The old version's uninstaller runs during an update as well.
  ${ifNot} ${isUpdated}
    ${if} $installMode == "all"
      !insertmacro removeFirewallRule
    ${endIf}
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "${START_AT_LOGIN}"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "${START_AT_LOGIN}"
    ReadRegStr $R0 SHELL_CONTEXT "Software\Classes\.req" ""
    ${if} $R0 == "${REQUEST_CLASS}"
      !insertmacro APP_UNASSOCIATE "req" "${REQUEST_CLASS}"
    ${endIf}
  ${endIf}
!macroend
