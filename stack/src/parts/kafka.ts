import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PartProgram } from '../embedded-part.ts'
import { runProgram } from '../run-program.ts'
import { countBrokers } from './kafka-metadata.ts'

export interface KafkaSettings {
  /** Executable `java`, 17 or newer. */
  java: string
  /** Folder of all jars. */
  jars: string
  /** Folder for settings, topics and temporary files. */
  dir: string
  port: number
  controllerPort: number
}

/** A single broker that is its own KRaft controller. */
export function kafkaProgram(settings: KafkaSettings): PartProgram {
  const { java, jars, dir, port } = settings
  const propertiesPath = join(dir, 'server.properties')
  const log4jPath = join(dir, 'log4j2.properties')
  const formattedPath = join(dir, 'formatted')
  const tempDir = join(dir, 'tmp')
  const jvm = (heap: string) => [
    `-Xmx${heap}`,
    '-XX:+UseSerialGC',
    // Only the quick compiler: the start is what a person waits for, and the broker does little work here.
    '-XX:TieredStopAtLevel=1',
    `-Djava.io.tmpdir=${tempDir}`,
    `-Dlog4j2.configurationFile=${log4jPath}`,
    '-cp',
    join(jars, '*'),
  ]
  return {
    name: 'kafka',
    title: 'Kafka 4.3.1',
    program: java,
    args: [...jvm('384m'), 'kafka.Kafka', propertiesPath],
    marker: propertiesPath,
    cwd: dir,
    readyWithinMs: 120_000,
    files: { [propertiesPath]: serverProperties(settings), [log4jPath]: log4jProperties },
    async prepare() {
      // The compression libraries unpack themselves here on every start and are left behind by a SIGKILL.
      rmSync(tempDir, { recursive: true, force: true })
      mkdirSync(tempDir, { recursive: true })
      if (existsSync(formattedPath)) return
      // Half a format, from a start that was interrupted, can neither be used nor completed.
      rmSync(join(dir, 'topics'), { recursive: true, force: true })
      const clusterId = randomBytes(16).toString('base64url')
      await runProgram(
        java,
        [...jvm('128m'), 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', propertiesPath],
        { timeoutMs: 120_000 },
      )
      writeFileSync(formattedPath, `${clusterId}\n`)
    },
    checkReady: () => requireBroker(port),
  }
}

async function requireBroker(port: number): Promise<void> {
  // It answers before it has registered itself with its controller; a client would find no leader for anything then.
  if ((await countBrokers(port, 3000)) === 0) throw new Error('Kafka has no broker yet')
}

function serverProperties({ dir, port, controllerPort }: KafkaSettings): string {
  return `${[
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=PLAINTEXT',
    `log.dirs=${join(dir, 'topics')}`,
    // One broker: internal topics cannot have more copies than that.
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=8',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'transaction.state.log.num.partitions=4',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    // A mistyped topic must fail here as it fails in production; topics are made by the deploy job.
    'auto.create.topics.enable=false',
    'message.max.bytes=2200000',
    // The default waits 3 s for more members each time a group is new: tests and the demo would wait with it.
    'group.initial.rebalance.delay.ms=0',
    // A killed broker may not register again before its session has ended: the default, 9 s, is most of a start.
    // Much shorter, and a machine that is busy elsewhere loses its only leader for a moment.
    'broker.session.timeout.ms=4000',
    'broker.heartbeat.interval.ms=500',
    'log.cleaner.dedupe.buffer.size=16777216',
    'num.network.threads=2',
    'num.io.threads=4',
  ].join('\n')}\n`
}

const log4jProperties = `rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %p %c{1} %m%n
logger.server.name=kafka.server
logger.server.level=INFO
logger.config.name=kafka.server.KafkaConfig
logger.config.level=WARN
logger.groups.name=org.apache.kafka.coordinator.group
logger.groups.level=INFO
`
