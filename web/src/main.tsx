// The start: the nonce of the page for the styles that are made here, the colors, and then everything else.
import './app/mantine.css'
import './app/tokens.css'
import './app/lists.css'
import './app/details.css'
import './app/rollouts.css'
import './app/review.css'
import './app/layout.css'
import { MantineProvider } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App, loadAhead } from './app/routes'
import { SessionProvider } from './app/session'
import { theme } from './app/theme'
import { nonce } from './app/nonce'

const root = document.getElementById('root')
if (root) {
  const page = loadAhead(window.location.pathname)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={nonce}>
        <SessionProvider page={page}>
          <App />
        </SessionProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
