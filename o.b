/tmp/lines1/x/cmp.sh: line 3: --csv: command not found
