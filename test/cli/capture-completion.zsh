# Prints what zsh offers when Tab is pressed after the words in $1: the real completion, in a pseudo-terminal. What it has loaded is
# kept in the working directory, because looking through all completions takes a second.
setopt extendedglob
zmodload zsh/zpty
zpty desk zsh -f -i
zpty -w desk 'stty -echo -ixon; PS1= PS2= RPS1=; autoload -Uz compinit; compinit -u -C -d ./zcompdump'
zpty -w desk 'source "$PWD/_license-desk"'
zpty -w desk 'compadd() { local -a found; builtin compadd -O found "$@"; (( $#found )) && print -rl -- "offer:"$^found"|"; builtin compadd "$@" }'
zpty -w desk 'zle -C offers list-choices _main_complete; run() { zle offers; print -r -- "capture-"end; zle kill-whole-line }; zle -N run; bindkey "^T" run; print -r -- "capture-"ready'
while zpty -r desk line; do
  [[ $line == *capture-ready* ]] && break
done
zpty -w -n desk "$1"$'\C-t'
while zpty -r desk line; do
  [[ $line == *capture-end* ]] && break
  [[ $line == *offer:* ]] && print -r -- "${${line##*offer:}%%|*}"
done
zpty -d desk
