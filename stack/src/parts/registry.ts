import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PartProgram } from '../embedded-part.ts'

export interface RegistrySettings {
  /** The `java` executable, version 21 or newer. */
  java: string
  /** Folder with quarkus-run.jar. */
  home: string
  dir: string
  port: number
}

/** The base URL of the Confluent-compatible API. */
export function registryUrl(port: number): string {
  return `http://127.0.0.1:${port}/apis/ccompat/v7`
}

/**
 * Apicurio Registry with its data in a file. With the default storage (memory) the schema ids in stored messages would
 * be invalid after a restart.
 */
export function registryProgram({ java, home, dir, port }: RegistrySettings): PartProgram {
  const tempDir = join(dir, 'tmp')
  // WRITE_DELAY=0, because an assigned id must survive a SIGKILL; H2 writes half a second later by default.
  const databaseArgument = `-Dapicurio.datasource.url=jdbc:h2:file:${join(dir, 'schemas')};WRITE_DELAY=0`
  return {
    name: 'registry',
    title: 'Apicurio Registry 3.3.3',
    program: java,
    args: [
      ...['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', `-Djava.io.tmpdir=${tempDir}`],
      ...['-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`],
      // Health pages on a free port of loopback: by default they use port 9000 of every address, so a second registry
      // could not start.
      ...['-Dquarkus.management.host=127.0.0.1', '-Dquarkus.management.port=0'],
      ...['-Dapicurio.storage.kind=sql', '-Dapicurio.storage.sql.kind=h2', databaseArgument],
      // One log line per request is not needed here.
      '-Dquarkus.http.access-log.enabled=false',
      ...['-jar', join(home, 'quarkus-run.jar')],
    ],
    marker: databaseArgument,
    cwd: dir,
    // Java starts slowly on a machine whose processors are busy.
    readyWithinMs: 300_000,
    files: {},
    prepare: async () => {
      mkdirSync(tempDir, { recursive: true })
    },
    async checkReady() {
      const response = await fetch(`${registryUrl(port)}/subjects`, { signal: AbortSignal.timeout(10_000) })
      const body: unknown = await response.json()
      if (!response.ok || !Array.isArray(body)) throw new Error(`The registry answered ${response.status}`)
    },
  }
}
