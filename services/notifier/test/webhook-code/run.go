package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Each three arguments are a check, a secret and a file with a delivery; each gives one line.
func main() {
	checks := map[string]func([]byte, http.Header, string) error{"verify": Verify, "verifyBody": VerifyBody}
	for arguments := os.Args[1:]; len(arguments) > 0; arguments = arguments[3:] {
		message, err := os.ReadFile(arguments[2])
		if err != nil {
			panic(err)
		}
		head, body, _ := bytes.Cut(message, []byte("\r\n\r\n"))
		headers := http.Header{}
		for _, line := range strings.Split(string(head), "\r\n") {
			name, value, _ := strings.Cut(line, ": ")
			headers.Set(name, value)
		}
		if err := checks[arguments[0]](body, headers, arguments[1]); err != nil {
			fmt.Printf("refused: %s\n", err)
		} else {
			fmt.Println("authentic")
		}
	}
}
