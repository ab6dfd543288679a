import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SignatureException;
import java.util.HashMap;
import java.util.Map;

/** Each three arguments are a check, a secret and a file with a delivery; each gives one line. */
public final class Run {
    public static void main(String[] arguments) throws Exception {
        for (int at = 0; at < arguments.length; at += 3) {
            String message = Files.readString(Path.of(arguments[at + 2]), ISO_8859_1);
            int end = message.indexOf("\r\n\r\n");
            Map<String, String> headers = new HashMap<>();
            for (String line : message.substring(0, end).split("\r\n")) {
                String[] parts = line.split(": ", 2);
                headers.put(parts[0], parts[1]);
            }
            byte[] body = message.substring(end + 4).getBytes(ISO_8859_1);
            try {
                if (arguments[at].equals("verify")) Webhooks.verify(body, headers, arguments[at + 1]);
                else Webhooks.verifyBody(body, headers, arguments[at + 1]);
                System.out.println("authentic");
            } catch (SignatureException refusal) {
                System.out.println("refused: " + refusal.getMessage());
            }
        }
    }
}
