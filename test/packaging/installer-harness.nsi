; The least of electron-builder's installer.nsi that packaging/windows/installer.nsh needs: its own macros are included from
; electron-builder's templates, so that a macro that is renamed there fails here.
Unicode true
Name "License Desk"
OutFile "${OUT}"
RequestExecutionLevel user
!include "LogicLib.nsh"
!define APP_EXECUTABLE_FILENAME "License Desk.exe"
!define PRODUCT_FILENAME "License Desk"
!define PRODUCT_NAME "License Desk"
Var installMode
LangString appClosing 1033 "Closing License Desk"
LangString appRunning 1033 "License Desk is running"
LangString appCannotBeClosed 1033 "License Desk cannot be closed"
!macro _isUpdated _a _b _t _f
  StrCmp $installMode "updated" `${_t}` `${_f}`
!macroend
!define isUpdated `"" isUpdated ""`
!include "FileAssociation.nsh"
!include "${INSTALLER}"
!include "allowOnlyOneInstallerInstance.nsh"

Function .onInit
  StrCpy $installMode "all"
FunctionEnd

Function un.onInit
  StrCpy $installMode "all"
FunctionEnd

Section "install"
  !insertmacro CHECK_APP_RUNNING
  !insertmacro customInstall
  WriteUninstaller "$INSTDIR\Uninstall.exe"
SectionEnd

Section "un.install"
  !insertmacro customUnInstall
SectionEnd
