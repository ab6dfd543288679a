import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SignatureException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Webhooks {
    /** Throws unless the delivery is authentic and fresh. */
    public static void verify(byte[] body, Map<String, String> headers, String secret) throws GeneralSecurityException {
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        long now = System.currentTimeMillis() / 1000;
        if (!timestamp.matches("[0-9]{1,12}") || Math.abs(now - Long.parseLong(timestamp)) > 300)
            throw new SignatureException("The delivery is too old");
        byte[] key = secret.startsWith("whsec_")
            ? Base64.getDecoder().decode(secret.substring(6)) : secret.getBytes(UTF_8);
        byte[] prefix = (headers.getOrDefault("webhook-id", "") + "." + timestamp + ".").getBytes(UTF_8);
        String expected = "v1," + Base64.getEncoder().encodeToString(hmac(key, prefix, body));
        for (String given : headers.getOrDefault("webhook-signature", "").split(" "))
            if (MessageDigest.isEqual(given.getBytes(UTF_8), expected.getBytes(UTF_8))) return;
        throw new SignatureException("The delivery is not authentic");
    }

    /** Throws unless the body is authentic. It does not check the time. */
    public static void verifyBody(byte[] body, Map<String, String> headers, String secret)
        throws GeneralSecurityException {
        String expected = "sha256=" + HexFormat.of().formatHex(hmac(secret.getBytes(UTF_8), body));
        for (String name : new String[] {"x-service-signature", "x-service-signature-previous"})
            if (MessageDigest.isEqual(headers.getOrDefault(name, "").getBytes(UTF_8), expected.getBytes(UTF_8))) return;
        throw new SignatureException("The delivery is not authentic");
    }

    private static byte[] hmac(byte[] key, byte[]... parts) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (byte[] part : parts) mac.update(part);
        return mac.doFinal();
    }
}
