package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Verify returns nil if the delivery is authentic and fresh, and otherwise what is wrong.
func Verify(body []byte, headers http.Header, secret string) error {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the delivery is too old")
	}
	key := []byte(secret)
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		if key, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "=")); err != nil {
			return err
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return nil
		}
	}
	return errors.New("the delivery is not authentic")
}

// VerifyBody returns nil if the body is authentic. It does not check the time.
func VerifyBody(body []byte, headers http.Header, secret string) error {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	for _, name := range []string{"X-Service-Signature", "X-Service-Signature-Previous"} {
		if hmac.Equal([]byte(headers.Get(name)), []byte(expected)) {
			return nil
		}
	}
	return errors.New("the delivery is not authentic")
}
