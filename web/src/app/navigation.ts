// The pages of the menu.
import {
  ArrowUpCircle,
  Boxes,
  Cog,
  Gauge,
  Grid3x3,
  Layers,
  ListChecks,
  PackagePlus,
  Rocket,
  Rss,
  Store,
  Waves,
} from 'lucide-react'

/** groups are the pages as the menu has them: address, name and picture. */
export const groups = [
  {
    name: 'Watch',
    links: [
      ['/', 'Overview', Gauge],
      ['/kymas', 'Kymas', Layers],
      ['/modules', 'Modules', Boxes],
      ['/fleet', 'Fleet', Grid3x3],
    ],
  },
  {
    name: 'Change',
    links: [
      ['/catalog', 'Catalog', Store],
      ['/add', 'Add modules', PackagePlus],
      ['/upgrade', 'Upgrade', ArrowUpCircle],
    ],
  },
  {
    name: 'Run',
    links: [
      ['/operations', 'Operations', ListChecks],
      ['/releases', 'Releases', Rocket],
      ['/rollouts', 'Rollouts', Waves],
      ['/sources', 'Sources', Rss],
      ['/settings', 'Settings', Cog],
    ],
  },
] as const
