import { MongoClient } from 'mongodb'
import { z } from 'zod'
import { SASL_MECHANISMS } from '../bus/kafkajs/sasl.ts'
import { SECRET_METADATA, setting } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { hasCertificates, isPrivateKey, keyFitsCertificate } from '../credentials/tls-material.ts'

/** The settings for TLS and logins at Kafka, MongoDB and the schema registry. docs/tls.md explains them. */
export const credentialSettings = {
  KAFKA_TLS: z
    .stringbool()
    .optional()
    .describe('TLS to the brokers, on or off. Without it: on if a certificate or a SASL mechanism is set'),
  ...tlsSettings('KAFKA', 'the brokers'),
  KAFKA_SASL_MECHANISM: z
    .enum(SASL_MECHANISMS, `Give one of ${SASL_MECHANISMS.join(', ')}`)
    .optional()
    .describe(`Login at the brokers: ${SASL_MECHANISMS.join(', ')}. Without it there is no login`),
  KAFKA_SASL_USERNAME: setting.secret().optional().describe('User at the brokers'),
  KAFKA_SASL_PASSWORD: setting.secret().optional().describe('Password at the brokers'),
  ...tlsSettings('MONGO', 'MongoDB'),
  ...tlsSettings('SCHEMA_REGISTRY', 'the schema registry'),
  SCHEMA_REGISTRY_USERNAME: setting
    .secret()
    .optional()
    .describe('User at the schema registry, for basic authentication'),
  SCHEMA_REGISTRY_PASSWORD: setting.secret().optional().describe('Password at the schema registry'),
} as const

function tlsSettings<P extends string>(prefix: P, server: string) {
  return {
    [`${prefix}_CA`]: certificates().describe(
      `Authorities that may sign the certificate of ${server}, in PEM. Without them: those of Node`,
    ),
    [`${prefix}_CERT`]: certificates().describe(
      `Client certificate for ${server} with its intermediate certificates, in PEM`,
    ),
    [`${prefix}_KEY`]: privateKey().describe('Private key of the client certificate, in PEM without a passphrase'),
  } as Record<`${P}_CA` | `${P}_CERT` | `${P}_KEY`, ReturnType<typeof certificates>>
}

function certificates() {
  return pem(hasCertificates, 'Give certificates in PEM, each from BEGIN to END CERTIFICATE')
}

function privateKey() {
  return pem(isPrivateKey, 'Give a private key in PEM without a passphrase', SECRET_METADATA)
}

/** Certificates are public. They are instances of Secret because only these are read from their files again. */
function pem(isValid: (text: string) => boolean, message: string, metadata = {}) {
  return z
    .string()
    .refine(isValid, message)
    .transform(text => new Secret(text))
    .meta(metadata)
    .optional()
}

type Given = Readonly<Record<string, string>>

/** Finds settings that do not fit together, one line each. Settings that are invalid by themselves are reported elsewhere. */
export function findCredentialFaults(given: Given): string[] {
  return [
    ...['KAFKA', 'MONGO', 'SCHEMA_REGISTRY'].flatMap(prefix => findPairFaults(given, prefix)),
    ...findKafkaFaults(given),
    ...findMongoFaults(given),
    ...findRegistryFaults(given),
  ]
}

function findPairFaults(given: Given, prefix: string): string[] {
  const [cert, key] = [given[`${prefix}_CERT`], given[`${prefix}_KEY`]]
  if (cert !== undefined && key === undefined) return [`${prefix}_KEY: is required with ${prefix}_CERT`]
  if (cert === undefined && key !== undefined) return [`${prefix}_CERT: is required with ${prefix}_KEY`]
  if (cert === undefined || key === undefined || !hasCertificates(cert) || !isPrivateKey(key)) return []
  return keyFitsCertificate(cert, key) ? [] : [`${prefix}_KEY: is not the key of ${prefix}_CERT`]
}

function findKafkaFaults(given: Given): string[] {
  const faults: string[] = []
  const [mechanism, login] = ['KAFKA_SASL_MECHANISM', ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']] as const
  if (given[mechanism] !== undefined) {
    faults.push(
      ...login.filter(name => given[name] === undefined).map(name => `${name}: is required with ${mechanism}`),
    )
  } else {
    const first = login.find(name => given[name] !== undefined)
    if (first !== undefined) faults.push(`${mechanism}: is required with ${first}`)
  }
  const files = ['KAFKA_CA', 'KAFKA_CERT'].filter(name => given[name] !== undefined)
  if (files[0] !== undefined && z.stringbool().safeParse(given.KAFKA_TLS).data === false) {
    faults.push(`KAFKA_TLS: is off, but ${files[0]} is set`)
  }
  return faults
}

function findMongoFaults(given: Given): string[] {
  const options = mongoOptions(given.MONGO_URL)
  if (options === undefined) return []
  const file = ['MONGO_CA', 'MONGO_CERT'].find(name => given[name] !== undefined)
  if (file !== undefined && options.hasFiles) {
    return [`${file}: MONGO_URL names certificate files too; remove tlsCAFile and tlsCertificateKeyFile from it`]
  }
  if (file !== undefined && options.tls === false) return [`${file}: MONGO_URL says tls=false; remove that from it`]
  if (options.mechanism === 'MONGODB-X509' && given.MONGO_CERT === undefined && !options.hasFiles) {
    return ['MONGO_CERT: is required with authMechanism=MONGODB-X509 in MONGO_URL']
  }
  return []
}

function mongoOptions(url = '') {
  try {
    const { tls, tlsCAFile, tlsCertificateKeyFile, credentials } = new MongoClient(url).options
    const isTlsSet = /[?&](?:tls|ssl)=/i.test(url)
    return {
      tls: isTlsSet ? tls : undefined,
      hasFiles: tlsCAFile !== undefined || tlsCertificateKeyFile !== undefined,
      mechanism: credentials?.mechanism,
    }
  } catch {
    return undefined
  }
}

function findRegistryFaults(given: Given): string[] {
  const faults: string[] = []
  const [user, password] = ['SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD']
  if (given[user] !== undefined && given[password] === undefined) faults.push(`${password}: is required with ${user}`)
  if (given[user] === undefined && given[password] !== undefined) faults.push(`${user}: is required with ${password}`)
  const url = URL.parse(given.SCHEMA_REGISTRY_URL ?? '')
  if (url === null) return faults
  if (given[user] !== undefined && url.username !== '') {
    faults.push(`${user}: SCHEMA_REGISTRY_URL has a user too; remove it from the URL`)
  }
  const file = ['SCHEMA_REGISTRY_CA', 'SCHEMA_REGISTRY_CERT'].find(name => given[name] !== undefined)
  if (file !== undefined && url.protocol !== 'https:') {
    faults.push(`${file}: is used only with https://, but SCHEMA_REGISTRY_URL begins with http://`)
  }
  return faults
}
