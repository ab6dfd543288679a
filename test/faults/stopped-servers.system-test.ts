/** The tests that stop Kafka and MongoDB, which share a product with servers of its own. */
import { afterAll, beforeAll } from 'vitest'
// First, because it expects an installation without projects.
import './heartbeat.tests.ts'
import './dependencies-away.tests.ts'
import { closeOwnServers, openOwnServers } from './own-servers.ts'

beforeAll(openOwnServers)
afterAll(closeOwnServers)
