// Verify webhook requests. `go run verify.go REQUESTS KEYS SHOP_URL` reads requests from a JSON file
// and prints, as JSON, whether each is accepted.
package main

// --8<-- [start:imports]
import (
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// --8<-- [end:imports]

// --8<-- [start:jws]

// verifyWithKeySet returns an error unless the shop signed body, the bytes as they arrived.
func verifyWithKeySet(body []byte, headers map[string]string, keys map[string]*rsa.PublicKey) error {
	parts := strings.Split(headers["saleor-signature"], ".")
	if len(parts) != 3 || parts[1] != "" {
		return errors.New("expected a detached signature")
	}
	head, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil {
		return err
	}
	var claims struct {
		Alg, Kid string
		B64      *bool
	}
	if err := json.Unmarshal(head, &claims); err != nil {
		return err
	}
	key := keys[claims.Kid]
	if claims.Alg != "RS256" || claims.B64 == nil || *claims.B64 || key == nil {
		return errors.New("expected RS256, an unencoded payload and a key of the shop")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	digest := sha256.Sum256(append([]byte(parts[0]+"."), body...))
	return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature)
}

// fetchKeys returns the shop's keys by their IDs. Keep them; fetch again when an ID is unknown.
func fetchKeys(shop string) (map[string]*rsa.PublicKey, error) {
	response, err := http.Get(shop + "/.well-known/jwks.json")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var set struct {
		Keys []struct{ Kid, N, E string }
	}
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil {
		return nil, err
	}
	keys := map[string]*rsa.PublicKey{}
	for _, key := range set.Keys {
		n, err := base64.RawURLEncoding.DecodeString(key.N)
		if err != nil {
			return nil, err
		}
		e, err := base64.RawURLEncoding.DecodeString(key.E)
		if err != nil {
			return nil, err
		}
		exponent := int(new(big.Int).SetBytes(e).Int64())
		keys[key.Kid] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: exponent}
	}
	return keys, nil
}

// --8<-- [end:jws]

// --8<-- [start:hmac]

// verifyWithSecret returns an error unless body was signed with the webhook's secret.
func verifyWithSecret(body []byte, headers map[string]string, secret string) error {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	received, err := hex.DecodeString(headers["saleor-signature"])
	if err != nil || !hmac.Equal(mac.Sum(nil), received) {
		return errors.New("the signature does not match")
	}
	return nil
}

// --8<-- [end:hmac]

// --8<-- [start:standard]

// verifyStandardWebhook returns an error unless ID, time and body were signed with the secret, at
// most five minutes ago.
func verifyStandardWebhook(body []byte, headers map[string]string, secret string) error {
	id, sent := headers["webhook-id"], headers["webhook-timestamp"]
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the request is too old")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(headers["webhook-signature"]) {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return nil
		}
	}
	return errors.New("the signature does not match")
}

// --8<-- [end:standard]

func main() {
	keys, err := fetchKeys(os.Args[3])
	must(err)
	text, err := os.ReadFile(os.Args[1])
	must(err)
	var cases []struct {
		Scheme, Body, Secret string
		Headers              map[string]string
	}
	must(json.Unmarshal(text, &cases))
	verdicts := []string{}
	for _, one := range cases {
		body := []byte(one.Body)
		switch one.Scheme {
		case "jws":
			err = verifyWithKeySet(body, one.Headers, keys)
		case "hmac":
			err = verifyWithSecret(body, one.Headers, one.Secret)
		case "standard":
			err = verifyStandardWebhook(body, one.Headers, one.Secret)
		}
		if err == nil {
			verdicts = append(verdicts, "accepted")
		} else {
			verdicts = append(verdicts, "refused: "+err.Error())
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(verdicts))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
