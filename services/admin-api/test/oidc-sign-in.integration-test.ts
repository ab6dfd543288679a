import { provisionTestStack } from '@backstop/provision/test'
import { afterAll } from 'vitest'
import { startMongoApiOver } from './mongo-test-api.ts'
import { describeOidcSignIn } from './oidc-sign-in.contract.ts'

// One stack for all APIs of this file, because creating its topics and indexes takes longer than most tests.
const stack = await provisionTestStack()
afterAll(() => stack.close())

describeOidcSignIn('MongoDB', (settings, ports) => startMongoApiOver(stack, settings, ports))
