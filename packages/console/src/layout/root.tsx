import { Outlet, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { listenForSessionEnd, queryClient } from '../api/client.ts'
import { forgetSession, meQuery } from '../session/session.ts'

/** The outermost component: it opens the sign-in page when the session has ended, and the page before it after the sign-in. */
export function Root() {
  const navigate = useNavigate()
  const router = useRouter()
  useEffect(
    () =>
      listenForSessionEnd(() => {
        const { href, pathname } = router.latestLocation
        // Several requests are refused at once; only the first one leads to the sign-in.
        if (pathname === '/sign-in') return
        const ended = queryClient.getQueryData(meQuery.queryKey) === undefined ? {} : { ended: 'true' }
        forgetSession()
        void navigate({ to: '/sign-in', search: { return_to: href, ...ended } as never, replace: true })
      }),
    [navigate, router],
  )
  return <Outlet />
}
