import type { KafkaConnection } from '../bus/kafkajs/client.ts'
import type { SaslMechanism } from '../bus/kafkajs/sasl.ts'
import type { Secret } from '../config/secret.ts'
import { describeRefusal, findRefusal, type RefusalContext } from '../credentials/refusal.ts'
import { createTlsMaterial, type TlsMaterial } from '../credentials/tls-material.ts'
import type { RegistryCredentials } from '../registry/registry-exchange.ts'

/** The credentials among the settings. A program that does not use a dependency leaves its settings out. */
export interface CredentialConfig {
  readonly KAFKA_TLS?: boolean | undefined
  readonly KAFKA_CA?: Secret | undefined
  readonly KAFKA_CERT?: Secret | undefined
  readonly KAFKA_KEY?: Secret | undefined
  readonly KAFKA_SASL_MECHANISM?: SaslMechanism | undefined
  readonly KAFKA_SASL_USERNAME?: Secret | undefined
  readonly KAFKA_SASL_PASSWORD?: Secret | undefined
  readonly MONGO_CA?: Secret | undefined
  readonly MONGO_CERT?: Secret | undefined
  readonly MONGO_KEY?: Secret | undefined
  readonly SCHEMA_REGISTRY_CA?: Secret | undefined
  readonly SCHEMA_REGISTRY_CERT?: Secret | undefined
  readonly SCHEMA_REGISTRY_KEY?: Secret | undefined
  readonly SCHEMA_REGISTRY_USERNAME?: Secret | undefined
  readonly SCHEMA_REGISTRY_PASSWORD?: Secret | undefined
}

/**
 * How to connect to Kafka. A login uses TLS unless KAFKA_TLS is off, because PLAIN sends the password, and SCRAM something from
 * which a weak one can be found.
 */
export function kafkaCredentials(config: CredentialConfig): Pick<KafkaConnection, 'tls' | 'sasl'> {
  const { KAFKA_CA: ca, KAFKA_CERT: cert, KAFKA_KEY: key } = config
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config
  const isSasl = mechanism !== undefined && username !== undefined && password !== undefined
  const usesTls = config.KAFKA_TLS ?? (ca !== undefined || cert !== undefined || isSasl)
  return {
    tls: usesTls ? createTlsMaterial({ ca, cert, key }) : undefined,
    sasl: isSasl ? { mechanism, username, password } : undefined,
  }
}

/** TLS to MongoDB with mounted files; undefined if MONGO_URL alone decides. */
export function mongoTls(config: CredentialConfig): TlsMaterial | undefined {
  const { MONGO_CA: ca, MONGO_CERT: cert, MONGO_KEY: key } = config
  return ca === undefined && cert === undefined ? undefined : createTlsMaterial({ ca, cert, key })
}

export function registryCredentials(config: CredentialConfig): RegistryCredentials {
  const { SCHEMA_REGISTRY_CA: ca, SCHEMA_REGISTRY_CERT: cert, SCHEMA_REGISTRY_KEY: key } = config
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: password } = config
  return {
    tls: ca === undefined && cert === undefined ? undefined : createTlsMaterial({ ca, cert, key }),
    login: username === undefined || password === undefined ? undefined : { username, password },
  }
}

/** What messages about a refusal name. */
export function kafkaRefusalContext({ tls, sasl }: Pick<KafkaConnection, 'tls' | 'sasl'>): RefusalContext {
  return {
    dependency: 'Kafka',
    addressSetting: 'KAFKA_BROKERS',
    caSetting: 'KAFKA_CA',
    certSetting: 'KAFKA_CERT',
    loginSettings: 'KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
    mechanism: sasl?.mechanism,
    certificate: tls?.describeCertificate(),
  }
}

export function mongoRefusalContext(tls: TlsMaterial | undefined): RefusalContext {
  return {
    dependency: 'MongoDB',
    addressSetting: 'MONGO_URL',
    caSetting: 'MONGO_CA',
    certSetting: 'MONGO_CERT',
    loginSettings: tls?.hasClientCertificate ? 'MONGO_URL and MONGO_CERT' : 'MONGO_URL',
    certificate: tls?.describeCertificate(),
  }
}

export function registryRefusalContext({ tls, login }: RegistryCredentials): RefusalContext {
  return {
    dependency: 'the schema registry',
    addressSetting: 'SCHEMA_REGISTRY_URL',
    caSetting: 'SCHEMA_REGISTRY_CA',
    certSetting: 'SCHEMA_REGISTRY_CERT',
    loginSettings:
      login === undefined ? 'SCHEMA_REGISTRY_URL' : 'SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
    certificate: tls?.describeCertificate(),
  }
}

/** The message about credentials that a dependency refused; undefined if the error has another reason. */
export function refusalMessage(
  dependency: 'kafka' | 'mongo' | 'registry',
  error: unknown,
  config: CredentialConfig,
): string | undefined {
  const refusal = findRefusal(error)
  if (refusal === undefined) return undefined
  const context = {
    kafka: () => kafkaRefusalContext(kafkaCredentials(config)),
    mongo: () => mongoRefusalContext(mongoTls(config)),
    registry: () => registryRefusalContext(registryCredentials(config)),
  }
  return describeRefusal(refusal, context[dependency]())
}
