complete -c gt-key -s h -d 'Print this help message and exit'
complete -c gt-key -l help -d 'Print this help message and exit'
complete -c gt-key -l public -r -d 'write the public key of the secret one in FILE, ’-’ for standard input'
complete -c gt-key -l version -d 'Display program version information and exit'
