; Included by electron-builder's NSIS script. Its own check ends every process below $INSTDIR at once, the license
; server too. Here the app quits first, which stops the server cleanly.

Var pid
!include "getProcessInfo.nsh"

!macro customCheckAppRunning
  !insertmacro IS_POWERSHELL_AVAILABLE
  ${if} ${FileExists} "$INSTDIR\${APP_EXECUTABLE_FILENAME}"
    !insertmacro FIND_PROCESS "${APP_EXECUTABLE_FILENAME}" $R0
    ${if} $R0 == 0
      DetailPrint "$(appClosing)"
      ; The second instance hands this over to the first and ends.
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
