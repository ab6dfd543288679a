import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PartProgram } from '../embedded-part.ts'
import { runProgram } from '../run-program.ts'
import { countBrokers } from './kafka-metadata.ts'

export interface KafkaSettings {
  /** The `java` executable, version 17 or newer. */
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
    // Only the quick compiler, because a person waits for the start, and the broker does little work here.
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
    readyWithinMs: 300_000,
    files: { [propertiesPath]: serverProperties(settings), [log4jPath]: log4jProperties },
    async prepare() {
      // The compression libraries unpack themselves into this folder on every start, and a SIGKILL leaves the files
      // behind.
      rmSync(tempDir, { recursive: true, force: true })
      mkdirSync(tempDir, { recursive: true })
      if (existsSync(formattedPath)) return
      // Delete an incomplete format of an interrupted start, because it can neither be used nor completed.
      rmSync(join(dir, 'topics'), { recursive: true, force: true })
      // In one argument, because an id may begin with a hyphen and would be read as another option.
      const clusterId = randomBytes(16).toString('base64url')
      await runProgram(
        java,
        [...jvm('128m'), 'kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', propertiesPath],
        { timeoutMs: 120_000 },
      )
      writeFileSync(formattedPath, `${clusterId}\n`)
    },
    checkReady: () => requireBroker(port),
  }
}

async function requireBroker(port: number): Promise<void> {
  // The broker answers before it has registered itself with its controller. Until then a client would find no leader
  // for any topic.
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
    // Internal topics cannot have more than one copy, because there is one broker.
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=8',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'transaction.state.log.num.partitions=4',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    // A mistyped topic must fail as in production, where the deploy job creates the topics.
    'auto.create.topics.enable=false',
    'message.max.bytes=2200000',
    // By default each new group waits 3 s for more members, and tests and the demo would wait, too.
    'group.initial.rebalance.delay.ms=0',
    // A killed broker cannot register again before its session has ended, and the default of 9 s is most of a start.
    // With a much shorter session a busy machine would briefly lose its only leader.
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
