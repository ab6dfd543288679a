import { describe, expect, test } from 'vitest'
import { type CredentialRefusal, describeRefusal, findRefusal, RefusedError } from './refusal.ts'

/** An error as a client library throws it, around the error of the socket. */
const wrapped = (fields: object, message = 'failed') =>
  new Error('outer', { cause: Object.assign(new Error(message), fields) })

describe('a failed connection', () => {
  const rows: { name: string; error: unknown; refusal: CredentialRefusal | undefined }[] = [
    { name: 'a reset connection', error: wrapped({ code: 'ECONNRESET' }), refusal: undefined },
    { name: 'no listening server', error: wrapped({ code: 'ECONNREFUSED' }), refusal: undefined },
    { name: 'an unknown host', error: wrapped({ code: 'ENOTFOUND' }), refusal: undefined },
    {
      name: 'an internal error of the server',
      error: wrapped({ code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' }),
      refusal: undefined,
    },
    { name: 'no error', error: undefined, refusal: undefined },
    { name: 'an own authority', error: wrapped({ code: 'SELF_SIGNED_CERT_IN_CHAIN' }), refusal: 'server_not_trusted' },
    { name: 'an old certificate', error: wrapped({ code: 'CERT_HAS_EXPIRED' }), refusal: 'server_certificate_expired' },
    { name: 'another host', error: wrapped({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), refusal: 'server_name_differs' },
    {
      name: 'a server without TLS',
      error: wrapped({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
      refusal: 'server_without_tls',
    },
    {
      name: 'an alert of OpenSSL 3.0 about the certificate',
      error: wrapped({ code: 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN' }),
      refusal: 'client_certificate_refused',
    },
    {
      name: 'an alert of OpenSSL 3.5 about the certificate',
      error: wrapped({ code: 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE' }),
      refusal: 'client_certificate_refused',
    },
    {
      name: 'a missing client certificate',
      error: wrapped({ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }),
      refusal: 'client_certificate_refused',
    },
    {
      name: 'a failed handshake, which is also a missing cipher,',
      error: wrapped({ code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' }),
      refusal: 'handshake_failed',
    },
    {
      name: 'a failed handshake in OpenSSL 3.5',
      error: wrapped({ code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' }),
      refusal: 'handshake_failed',
    },
    {
      name: 'a wrong password at MongoDB',
      error: wrapped({ name: 'MongoServerError', code: 18 }),
      refusal: 'login_refused',
    },
    {
      name: 'a wrong password at Atlas',
      error: wrapped({ name: 'MongoServerError', code: 8_000 }, 'bad auth : authentication failed'),
      refusal: 'login_refused',
    },
    {
      name: 'a full disk at Atlas',
      error: wrapped({ name: 'MongoServerError', code: 8_000 }, 'you are over your space quota'),
      refusal: undefined,
    },
    { name: 'a duplicate key', error: wrapped({ name: 'MongoServerError', code: 11_000 }), refusal: undefined },
    {
      name: 'a wrong password at Kafka',
      error: wrapped({ type: 'SASL_AUTHENTICATION_FAILED' }),
      refusal: 'login_refused',
    },
    {
      name: 'a mechanism that the broker lacks',
      error: wrapped({ name: 'KafkaJSSASLAuthenticationError' }, 'SASL PLAIN mechanism is not supported by the server'),
      refusal: 'mechanism_refused',
    },
    { name: 'a refusal of ours', error: new RefusedError('login_refused', '401'), refusal: 'login_refused' },
  ]
  test.each(rows)('with $name means $refusal', ({ error, refusal }) => {
    expect(findRefusal(error)).toBe(refusal)
  })
})

test('every message names the dependency or its setting, and the certificate if one was refused', () => {
  const context = {
    dependency: 'Kafka',
    addressSetting: 'KAFKA_BROKERS',
    caSetting: 'KAFKA_CA',
    certSetting: 'KAFKA_CERT',
    loginSettings: 'KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
    mechanism: 'PLAIN',
    certificate: 'CN=backstop, valid until 2027-01-31',
  }
  expect(describeRefusal('client_certificate_refused', context)).toBe(
    'Kafka refused the client certificate in KAFKA_CERT (CN=backstop, valid until 2027-01-31)',
  )
  expect(describeRefusal('client_certificate_refused', { ...context, certificate: undefined })).toBe(
    'Kafka requires a client certificate: set KAFKA_CERT',
  )
  expect(describeRefusal('mechanism_refused', context)).toContain('the SASL mechanism PLAIN')
  // These have more than one cause, so the message must not name a single one.
  expect(describeRefusal('handshake_failed', { ...context, certificate: undefined })).toBe(
    'Kafka ended the TLS handshake without a reason: it may require a client certificate (KAFKA_CERT), or offer no common cipher or curve',
  )
  expect(describeRefusal('connection_closed', context)).toBe(
    'Kafka closes every connection after the TLS handshake: it may require another client certificate than the one in KAFKA_CERT (CN=backstop, valid until 2027-01-31), or a proxy has no server to connect to',
  )
})
