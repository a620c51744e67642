package statekey_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/guildwarden/guildwarden/internal/statekey"
)

var secret = []byte(strings.Repeat("k", statekey.Min))

// What was sealed stays checkable only while these do not change.
func TestSubkeysStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for label, want := range map[statekey.Label]string{
		statekey.AuditChain: "917f647bb826c97e23c271b34977d67149d94c27adf3830064897bc98ac0e411",
		statekey.AuditKeyID: "737a509ed0c430e10edb86b874ce59e14f325457fcdcccf2b64b75a3aceafe6b",
		statekey.LedgerSeal: "70ba84e126fe7e73365e99a8406ac8636a93d80f88186b89ad3683d4270659e4",
		statekey.PlanDigest: "f1b0f4f19b58cd5c9bc94c9c101e3274d7e4c40b5c6d1ced3d2c5f793e53fe43",
		statekey.RequestTag: "bb263804911b7dc017b8764037c3ef1d921ad6ab78eb09eb2baa4bb27294c9da",
	} {
		key, err := statekey.Sub(secret, label)
		if err != nil || hex.EncodeToString(key) != want {
			t.Errorf("%s: %x, %v", label, key, err)
		}
	}
}

func TestSubkeysDifferByLabelAndSecret(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range [][]byte{secret, append(bytes.Clone(secret), 'k')} {
		for _, l := range []statekey.Label{statekey.AuditChain, statekey.AuditKeyID, statekey.LedgerSeal, statekey.PlanDigest, statekey.RequestTag, ""} {
			key, err := statekey.Sub(s, l)
			if err != nil || len(key) != 32 || seen[string(key)] {
				t.Errorf("%q: %x, %v", l, key, err)
			}
			seen[string(key)] = true
		}
	}
}

func TestShortSecretIsRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	for _, s := range [][]byte{nil, secret[:31]} {
		key, err := statekey.Sub(s, statekey.AuditChain)
		if err == nil || key != nil || strings.Contains(err.Error(), "kk") {
			t.Errorf("%d bytes: %x, %v", len(s), key, err)
		}
	}
}
