import { Button, PasswordInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { hasOrganisationSignIn } from '../../page-facts.ts'
import { PageHead, Problem } from '../../parts/page/index.ts'
import { forgetSession } from '../../session/session.ts'
import classes from './sign-in.module.css'

/** Signs in by the token of a link, which is in the fragment, by an API key, or with the OpenID Connect provider. */
export function Page() {
  const { return_to, ended }: { return_to?: string; ended?: string } = useSearch({ strict: false })
  const returnTo = isOwnPath(return_to) ? return_to : '/'
  const navigate = useNavigate()
  const [key, setKey] = useInputState('')
  const [hasKey, setHasKey] = useState(!hasOrganisationSignIn)
  const hasTriedLink = useRef(false)
  const signIn = useMutation({
    mutationFn: (proof: { key: string } | { token: string }) => api.sessions.signIn(proof),
    onSuccess: () => {
      forgetSession()
      void navigate({ href: returnTo, replace: true })
    },
  })
  const { mutate } = signIn
  useEffect(() => {
    const token = window.location.hash.slice(1)
    if (token === '' || hasTriedLink.current) return
    hasTriedLink.current = true
    // The token works once, so it must not stay in the history of the browser.
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
    mutate({ token })
  }, [mutate])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate({ key: key.trim() })
  }
  if (signIn.isPending && hasTriedLink.current && key === '') return <p className={classes.wait}>Signing in…</p>
  return (
    <main className={classes.page}>
      <PageHead title="Sign in to Backstop" />
      <p className={`dim ${classes.other}`}>
        {ended === 'true' && 'Your session has ended. '}
        {waitingThing(returnTo)}
      </p>
      {hasOrganisationSignIn && (
        <p className={classes.other}>
          <Button component="a" size="sm" fullWidth href={`/v1/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`}>
            Sign in with your organisation
          </Button>
        </p>
      )}
      {hasKey ? (
        <form className={classes.form} onSubmit={submit}>
          <PasswordInput
            label="API key"
            description="It begins with bsk_. The session lasts a day at most."
            autoComplete="current-password"
            value={key}
            onChange={setKey}
          />
          <Button
            type="submit"
            size="sm"
            variant={hasOrganisationSignIn ? 'default' : 'filled'}
            loading={signIn.isPending}
            disabled={key.trim() === ''}
          >
            Sign in
          </Button>
        </form>
      ) : (
        <p className={classes.other}>
          <Button variant="subtle" size="sm" fullWidth onClick={() => setHasKey(true)}>
            Sign in with an API key
          </Button>
        </p>
      )}
      <Problem error={signIn.error} what="The sign-in was refused" />
      <p className={`dim ${classes.other}`}>
        {hasOrganisationSignIn ? 'Without an account there' : 'Without a key'}: ask an admin for a sign-in link, or run{' '}
        <code className="mono">npm run console:open</code> where Backstop runs.
      </p>
    </main>
  )
}

const THINGS: Readonly<Record<string, string>> = {
  incidents: 'an incident: a refund or cancellation that somebody has to look at',
  storms: 'a storm: many refunds or cancellations that nothing explains',
  operations: 'an operation of your software, which may need an approval',
  actions: 'a refund or cancellation',
  budgets: 'a budget',
  runs: 'a failed run of your software',
}

/** What waits behind the sign-in. It names no amount and no customer, because nobody is signed in yet. */
function waitingThing(path: string): string {
  const [, place = '', , kind = '', id] = path.split(/[/?]/)
  const thing = place === 'p' && id !== undefined && id !== '' ? THINGS[kind] : undefined
  return thing === undefined
    ? 'It watches refunds and cancellations, and alerts about those that nothing explains.'
    : `The link opens ${thing}. Sign in to see it.`
}

/** Only a path of this origin may be opened after the sign-in. */
function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path)
}
