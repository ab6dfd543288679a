import { createRequire } from 'node:module'
import type { AuthenticationProviderArgs, Mechanism } from 'kafkajs'
import type { Secret } from '../../config/secret.ts'
import type { CredentialWatch } from '../../credentials/credential-watch.ts'
import { findRefusal } from '../../credentials/refusal.ts'

export const SASL_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]

/** The login at the brokers. Each authentication uses user and password as their mounted files have them then. */
export interface KafkaSasl {
  readonly mechanism: SaslMechanism
  readonly username: Secret
  readonly password: Secret
}

/** Hears of every accepted and every failed connection. */
export type ConnectionWatch = Pick<CredentialWatch, 'accepted' | 'failed'>

type Authenticator = ReturnType<Mechanism['authenticationProvider']>
type ProviderFactory = (login: {
  username: string
  password: string
}) => (args: AuthenticationProviderArgs) => Authenticator

const require = createRequire(import.meta.url)
/** kafkajs's own implementations, in kafkajs 2.2.4. */
const MODULES: Readonly<Record<SaslMechanism, string>> = {
  PLAIN: 'kafkajs/src/broker/saslAuthenticator/plain',
  'SCRAM-SHA-256': 'kafkajs/src/broker/saslAuthenticator/scram256',
  'SCRAM-SHA-512': 'kafkajs/src/broker/saslAuthenticator/scram512',
}

/**
 * A mechanism for kafkajs that reads the login again for each authentication. kafkajs reports a connection that breaks during
 * the login as wrong credentials; this provider throws the error of the connection instead.
 */
export function createSaslMechanism(
  { mechanism, username, password }: KafkaSasl,
  watch: ConnectionWatch | undefined,
): Mechanism {
  const createProvider = require(MODULES[mechanism]) as ProviderFactory
  return {
    mechanism,
    authenticationProvider: args => ({
      async authenticate() {
        let answered: unknown
        const login = { username: username.revealLatest(), password: password.revealLatest() }
        const provider = createProvider(login)({
          ...args,
          saslAuthenticate: request =>
            args.saslAuthenticate(request).catch((error: unknown) => {
              answered = error
              throw error
            }),
        })
        try {
          await provider.authenticate()
        } catch (error) {
          const failure = answered === undefined || findRefusal(answered) !== undefined ? error : answered
          watch?.failed(failure)
          throw failure
        }
        watch?.accepted()
      },
    }),
  }
}
