/** A Kafka broker with a listener for logins (PLAIN, SCRAM-SHA-512) and one for client certificates, both with TLS. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { choosePorts, endProcess, identify, silentProgress } from '@backstop/stack'
import { ensurePrograms } from '../../stack/src/downloads/ensure-programs.ts'
import { EmbeddedPart } from '../../stack/src/embedded-part.ts'
import { StackRecordFile } from '../../stack/src/part-records.ts'
import { kafkaProgram } from '../../stack/src/parts/kafka.ts'
import { startReaper } from '../../stack/src/reaper.ts'
import { runProgram } from '../../stack/src/run-program.ts'
import type { ServerFiles } from './secure-mongo.ts'

export interface BrokerCredentials extends ServerFiles {
  /** The password of the user `backstop` at the mechanism PLAIN. */
  readonly plainPassword: string
}

export interface SecureKafka {
  /** Without TLS and login, for the administrator. */
  readonly openBroker: string
  readonly loginBroker: string
  readonly certificateBroker: string
  /** Runs kafka-configs, which changes settings at the broker. */
  runConfigs(...args: string[]): Promise<void>
  /** Stops the broker, and starts it with other credentials. */
  restart(credentials: BrokerCredentials): Promise<void>
  stop(): Promise<void>
}

/** @param folder for data, certificates and logs */
export async function startSecureKafka(folder: string, credentials: BrokerCredentials): Promise<SecureKafka> {
  const { java, kafkaJars: jars } = await ensurePrograms(['kafka'], process.env, silentProgress)
  const {
    open: port,
    login,
    certificate,
    controller: controllerPort,
  } = await choosePorts({
    open: {},
    login: {},
    certificate: {},
    controller: {},
  })
  mkdirSync(folder, { recursive: true })
  let current = credentials
  const base = kafkaProgram({ java, jars, dir: folder, port, controllerPort })
  const [ownPath, caPath] = [join(folder, 'own.pem'), join(folder, 'ca.pem')]
  const ports = { open: port, login, certificate, controller: controllerPort }
  const program = {
    ...base,
    get files() {
      return {
        ...base.files,
        [base.marker]: `${base.files[base.marker]}${secureProperties(ports, { ownPath, caPath }, current)}`,
        [ownPath]: `${current.own.key}${current.own.cert}`,
        [caPath]: current.ca,
      }
    },
  }
  const part = new EmbeddedPart(program, new StackRecordFile(folder), join(folder, 'logs'), identify(process.pid)!)
  const reaper = startReaper(folder)
  await part.start()
  return {
    openBroker: `127.0.0.1:${port}`,
    loginBroker: `127.0.0.1:${login}`,
    certificateBroker: `127.0.0.1:${certificate}`,
    async runConfigs(...args) {
      const jvm = ['-Xmx128m', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*'), 'kafka.admin.ConfigCommand']
      await runProgram(java, [...jvm, '--bootstrap-server', `127.0.0.1:${port}`, ...args], { timeoutMs: 60_000 })
    },
    async restart(changed) {
      await part.stop()
      current = changed
      await part.start()
    },
    async stop() {
      await part.stop()
      if (reaper !== undefined) await endProcess(reaper)
    },
  }
}

interface Ports {
  readonly open: number
  readonly login: number
  readonly certificate: number
  readonly controller: number
}

/** Lines after those of the stack's broker: the last line of a setting counts. */
function secureProperties(
  ports: Ports,
  { ownPath, caPath }: { readonly ownPath: string; readonly caPath: string },
  { plainPassword }: BrokerCredentials,
): string {
  const listeners = [`PLAINTEXT://127.0.0.1:${ports.open}`, `LOGIN://127.0.0.1:${ports.login}`]
  listeners.push(`CERTIFICATE://127.0.0.1:${ports.certificate}`)
  return `${[
    `listeners=${[...listeners, `CONTROLLER://127.0.0.1:${ports.controller}`].join(',')}`,
    `advertised.listeners=${listeners.join(',')}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL,CERTIFICATE:SSL,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512',
    `listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_backstop="${plainPassword}";`,
    'listener.name.login.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${ownPath}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${caPath}`,
    'listener.name.certificate.ssl.client.auth=required',
  ].join('\n')}\n`
}
